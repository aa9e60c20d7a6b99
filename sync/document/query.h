/*
 * The statements that read rows of documents from the root down, as text; query_roots.h has the
 * way up.
 *
 * Keys are given encoded (key.h), as values of the joins' outer columns.  Two columns are equal
 * when they are as the inner one compares and as the outer one does: so an index serves in both
 * directions, and what is found downward is found upward as well.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_QUERY_H
#define SYNC_DOCUMENT_QUERY_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/mysql.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct branch;
struct buf;
struct column;

/* Fill select and from of a branch. */
void query_prepare(struct branch *b, struct arena *a);

/* As b has been, but of what it reads only its own key and what `below` is joined by. */
void query_prepare_joins(struct branch *b, const struct branch *below, struct arena *a);

/* The branch's rows for n keys, where by_integer; cells: the columns read. */
void query_by_integers(struct buf *sql, const struct branch *b, const struct str *keys,
                       size_t n);

/* The same for any columns; cells: the key's index from 0, then the columns read. */
void query_by_list(struct buf *sql, enum mysql_flavor flavor, const struct branch *b,
                   const struct str *keys, size_t n);

/* The next rows of the root in key order behind the key `after` (empty: the first). */
void query_range(struct buf *sql, const struct branch *root, struct str after, size_t limit);

/*
 * The next keys of root rows whose check column, a DATETIME or TIMESTAMP, was set since,
 * whatever the root's condition says of them; in the order of that column, then of the key.
 * cells: the key's columns, then the check column's value.
 */
struct query_changed {
    const struct branch *root;
    const struct column *check;
    struct str since;     /* a value of check; empty: all but NULLs */
    uint32_t overlap_s;   /* from so long before `since` on; 0: only what came behind it */
    struct str at, after; /* value and key of the last row of the page before; empty: none */
    size_t limit;
};
void query_changed(struct buf *sql, const struct query_changed *q);

/* How many root rows count. */
void query_count(struct buf *sql, const struct branch *root);

#endif
