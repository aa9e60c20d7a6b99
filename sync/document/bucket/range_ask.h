/*
 * What the server says of ranges of a table's rows, by an index: for borders.c alone.
 *
 * @thread the connection's; every call blocks on the server
 */
#ifndef SYNC_DOCUMENT_BUCKET_RANGE_ASK_H
#define SYNC_DOCUMENT_BUCKET_RANGE_ASK_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/query_part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct mysql_conn;

struct range_ask {
    struct mysql_conn *conn;
    struct arena *arena; /* gets the places */
    struct query_order order;
    struct str index;
    struct buf sql; /* scratch */
};

/* The rows after a place, up to another; empty: from the start, to the end. */
struct row_range {
    struct str after, until;
};

/* Ask whether the index has the rows in this order, so that the server need not sort. */
bool range_ask_is_in_order(struct range_ask *ask, bool *in_order, struct err *err) MUST_CHECK;

/* Guess the rows of n ranges.  Reads none. */
bool range_ask_rows(struct range_ask *ask, const struct row_range *ranges, size_t n,
                    uint64_t *rows, struct err *err) MUST_CHECK;

/* Find the places of the first and the last row; empty if there is no row.  Reads these two. */
bool range_ask_ends(struct range_ask *ask, const struct row_range *r, struct str *first,
                    struct str *last, struct err *err) MUST_CHECK;

/*
 * Drop places that do not lie between the first of them and another, in the server's order; the
 * first one stays.
 */
bool range_ask_between(struct range_ask *ask, struct str *places, size_t *n, struct str last,
                       struct err *err) MUST_CHECK;

/* Drop places that do not come after the one before them, in the server's order of text. */
bool range_ask_rise(struct range_ask *ask, struct str *places, size_t *n,
                    struct err *err) MUST_CHECK;

#endif
