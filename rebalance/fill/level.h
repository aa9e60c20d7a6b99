/*
 * The statement of a top relation: from rows of a delayed table to keys of the table whose
 * documents show them.
 *
 * Millrace wraps `level_sql`, so that it sees no NULL, each key once, in order, a page at a
 * time, and only keys of rows that there are.
 */
#ifndef REBALANCE_FILL_LEVEL_H
#define REBALANCE_FILL_LEVEL_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/definition/delayed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct mysql_conn;
struct plan;

#define LEVEL_KEYS  500  /* of a page: what one statement of the resolver takes */
#define LEVEL_KNOWN 5000 /* asked for at a time */
#define LEVEL_S     60   /* for a statement */

struct level_query {
    const struct top_relation *top;
    const struct plan *plan; /* of a version of the table's index */
    const struct str *ids;   /* of the delayed table's rows, as text */
    size_t n_ids;
    struct str after; /* the text of the last key of the page before; empty: the first page */
    struct str until; /* of the last key; empty: as many as a page has */
    struct str where; /* a condition on the target table's row; empty: none */
};
struct level_page {
    unsigned by;       /* how the keys name rows at the root: RESOLVER_BY */
    struct str *keys;  /* encoded */
    struct str *texts; /* of the same */
    size_t n;
    bool is_last; /* no key follows; not with `until` */
};

/*
 * What a statement has answered, for the pages that follow: the server may read very much for
 * each answer.  Rows that come to lead to others meanwhile do so by changes of their own, which
 * are followed, or wait for the next run.  Zero: nothing.
 */
struct level_keys {
    struct arena *arena;
    struct str question, above; /* what was asked, and behind which key */
    struct level_page page;     /* at most LEVEL_KNOWN */
};
void level_keys_fini(struct level_keys *k);

/*
 * Find at most LEVEL_KEYS keys; with `until`, all.  *out is borrowed from `known` or from a,
 * until the next call. Blocks on the server.  ERR_REJECT: it refuses the statement, or the
 * column is no key of the table any more.
 */
bool level_find_keys(struct mysql_conn *conn, const struct level_query *q,
                     struct level_keys *known, struct arena *a, struct level_page *out,
                     struct err *err) MUST_CHECK;
/* Guess how many rows the server will read for all pages; it reads none.  The same errors. */
bool level_rows_examined(struct mysql_conn *conn, const struct level_query *q, uint64_t *rows,
                         struct err *err) MUST_CHECK;

#endif
