/*
 * Find rows of a plan's root changed since some time, by a column that records the last change.
 *
 * For tables without a usable log.  Cannot find deleted rows, nor changes that did not set the
 * column.
 *
 * @thread the connection's; blocks
 */
#ifndef SYNC_DOCUMENT_POLL_QUERY_H
#define SYNC_DOCUMENT_POLL_QUERY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct mysql_conn;

struct poll_row {
    struct str id,
        key; /* from plan_root_id(); id is empty for a key that identifies no document */
    struct str value; /* of the check column */
};

struct poll_page {
    const struct plan *plan;
    struct str check;            /* name of the check column */
    struct str since;            /* a value of it; empty for all rows except those with NULL */
    uint32_t overlap_s;          /* start so long before `since`; 0: start after it */
    const struct poll_row *last; /* last row of the previous page; NULL for the first page */
    size_t limit;
};

/* Allocates rows in the arena, without rows that lack a key.  Sets *end on the last page. */
bool poll_load(struct mysql_conn *c, const struct poll_page *page, struct arena *a,
               struct poll_row **rows, size_t *n, bool *end, struct err *err) MUST_CHECK;

/* Append the latest value of the column; nothing if no row has one. */
bool poll_latest(struct mysql_conn *c, const struct plan *p, struct str check,
                 struct buf *value, struct err *err) MUST_CHECK;

#endif
