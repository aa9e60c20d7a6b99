/*
 * The statement of a top relation: from rows of a delayed table to keys of the table whose
 * documents show them.
 *
 * Millrace wraps `level_sql`, so that it sees no NULL, each key once, in order, a page at a
 * time, and only keys of rows that there are.
 */
#ifndef REBALANCE_DELAYED_LEVEL_H
#define REBALANCE_DELAYED_LEVEL_H

#include "rebalance/state/parts.h"

#include "sync/definition/delayed.h"

#define LEVEL_KEYS 1000 /* of a page */
#define LEVEL_S    60   /* for a statement */

struct level_query {
    const struct top_relation *top;
    const struct target *target; /* of a version of the table's index */
    const struct str *ids;       /* of the delayed table's rows, as text */
    size_t n_ids;
    struct str after; /* the text of the last key of the page before; empty: the first page */
};
struct level_page {
    unsigned by;      /* how the keys name rows at the root: RESOLVER_BY */
    struct str *keys; /* at most LEVEL_KEYS, encoded */
    size_t n;
    struct str last; /* the text of the last one */
};
/*
 * Blocks on the server.  ERR_REJECT: it refuses the statement, or the column is no key of the
 * table any more.
 */
bool level_find_keys(struct mysql_conn *conn, const struct level_query *q, struct arena *a,
                     struct level_page *out, struct err *err) MUST_CHECK;

#endif
