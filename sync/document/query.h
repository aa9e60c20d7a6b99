/*
 * The text of the statements that read documents' rows from the root down; query_roots.h has
 * the way up.
 *
 * Keys are encoded (key.h) values of the joins' outer columns.  Two columns match if they are
 * equal in both the inner and the outer column's comparison.  So an index serves in both
 * directions, and both directions find the same rows.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_QUERY_H
#define SYNC_DOCUMENT_QUERY_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/mysql/mysql.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct plan_node;
struct buf;
struct column;

/* Fill select and from of a node. */
void query_prepare(struct plan_node *b, struct arena *a);

/* Prepare likewise, but read only b's own key and the columns that join `below`. */
void query_prepare_joins(struct plan_node *b, const struct plan_node *below, struct arena *a);

/* Select the node's rows for n keys, if by_integer.  Cells: the columns read. */
void query_by_integers(struct buf *sql, const struct plan_node *b, const struct str *keys,
                       size_t n);

/* Select them for keys of any type.  Cells: the key's index from 0, then the columns read. */
void query_by_list(struct buf *sql, enum mysql_flavor flavor, const struct plan_node *b,
                   const struct str *keys, size_t n);

/*
 * Select rows of the root: the next ones in the order, or the last ones.  Cells: the columns
 * read, then `by`, if there is one.
 */
struct query_range {
    const struct plan_node *root;
    const struct column *by; /* as in struct query_order (query_part.h) */
    struct str index;        /* that the server must use; empty: it chooses */
    struct str after, until; /* places of the order; empty: from the first, to the last */
    struct str where;        /* a condition beside the root's; empty: none */
    bool is_last;            /* the last ones, the greatest first */
    size_t limit;
};
void query_range(struct buf *sql, const struct query_range *q);
/* Append FORCE INDEX, unless the name is empty. */
void query_force_index(struct buf *sql, struct str index);
/* Select the least and the greatest value of the root's column. */
void query_bounds(struct buf *sql, const struct plan_node *root, const struct column *c);

/*
 * Select the next keys of root rows whose check column, a DATETIME or TIMESTAMP, was set since,
 * regardless of the root's condition, ordered by that column, then by key.  Cells: the key's
 * columns, then the check column.
 */
struct query_changed {
    const struct plan_node *root;
    const struct column *check;
    struct str since;   /* a value of check; empty for all but NULLs */
    uint32_t overlap_s; /* start so long before `since`; 0: start after it */
    struct str at,
        after; /* value and key of the previous page's last row; empty for the first page */
    size_t limit;
};
void query_changed(struct buf *sql, const struct query_changed *q);

/* Count the root rows that pass the filter. */
void query_count(struct buf *sql, const struct plan_node *root);

#endif
