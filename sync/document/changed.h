/*
 * Rows of a plan's root that changed since, told by a column with the time of their last change.
 *
 * For tables whose changes no log tells.  What such a column cannot tell (rows that are gone,
 * changes that do not set it) is not found.
 *
 * @thread that of the connection; blocks
 */
#ifndef SYNC_DOCUMENT_CHANGED_H
#define SYNC_DOCUMENT_CHANGED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct mysql_conn;

struct changed_row {
    struct str id, key; /* as of plan_root_id(); id empty: a key that names no document */
    struct str value;   /* of the check column */
};

struct changed_page {
    const struct plan *plan;
    struct str check;   /* name of the column */
    struct str since;   /* a value of it, empty: all rows but those with NULL */
    uint32_t overlap_s; /* from so long before `since` on; 0: only what came behind it */
    const struct changed_row *last; /* of the page before; NULL: the first page */
    size_t limit;
};

/* rows are in the arena, those without a key left out; *end: these are the last. */
bool changed_load(struct mysql_conn *c, const struct changed_page *page, struct arena *a,
                  struct changed_row **rows, size_t *n, bool *end,
                  struct err *err) MUST_CHECK;

/* The latest value of the column, appended; nothing where no row has one. */
bool changed_latest(struct mysql_conn *c, const struct plan *p, struct str check,
                    struct buf *value, struct err *err) MUST_CHECK;

#endif
