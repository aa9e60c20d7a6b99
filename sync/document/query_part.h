/*
 * Building blocks of the loader's and resolver's statements: a list of keys as a table,
 * conditions on keys, an order.
 *
 * Names that begin with _millrace are reserved: users cannot have them.  All functions append.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_QUERY_PART_H
#define SYNC_DOCUMENT_QUERY_PART_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/mysql/mysql.h"

#include <stdbool.h>
#include <stddef.h>

struct plan_node;
struct buf;
struct column;
struct membership;
struct value;

/* The list's column with a key's number. query_part_of_key() names the columns of its parts. */
#define QUERY_NUMBER "_millrace_n"

/* `alias`.`column` */
void query_part_column(struct buf *sql, struct str alias, struct str column);

/* Keys of one node's joins, encoded (key.h). */
struct query_keys {
    enum mysql_flavor flavor; /* of the server asked */
    const struct plan_node *node;
    const struct str *keys;
    size_t n;
};
void query_part_of_key(struct buf *sql, size_t part);
/*
 * Append WITH and the list, if the server wants it first. inner: the keys are values of the
 * joins' inner columns, else of the outer ones.
 */
void query_part_with(struct buf *sql, const struct query_keys *k, bool inner);
/* Append the list as a table of FROM. */
void query_part_list(struct buf *sql, const struct query_keys *k, bool inner);

/* Returns " WHERE " first, then " AND "; static. */
const char *query_part_and(bool *first);
/*
 * Append one part of the key of the document that routes the root's row called alias: as its
 * parents tell it, if they do.  All parts come from one row, or all are NULL.
 */
void query_part_root(struct buf *sql, struct str alias, const struct membership *m,
                     size_t part);
/* Append the condition that a root row has a key and, in a join, a parent ... */
void query_part_has_key(struct buf *sql, struct str alias, const struct plan_node *root,
                        bool *first);
/* ... and a root. */
void query_part_has_root(struct buf *sql, struct str alias, const struct plan_node *root,
                         bool *first);

/*
 * The order in which the root's rows are read: by its key, or by a column first, whose NULLs
 * come first, and then by what else is in the key.
 *
 * A place in it is an encoded key (key.h) of the values of these columns, or of the first of
 * them: then it lies behind all rows that begin with these.  A NULL is an empty part.
 */
struct query_order {
    const struct plan_node *root;
    const struct column *by; /* a number or a time (column_is_scalar()); NULL: the key alone */
};
/* Find the order of that column; an empty name: that of the key.  ERR_REJECT if there is none.
 */
bool query_order_find(struct query_order *o, const struct plan_node *root, struct str by,
                      struct err *err) MUST_CHECK;
/* Column number i of the order; NULL if it has no more. */
const struct column *query_order_column(const struct query_order *o, size_t i);
/*
 * Append the place of a row with this encoded key and this value of `by`, if there is one.
 * ERR_REJECT if that is not of the column's type.
 */
bool query_order_append(struct buf *place, const struct query_order *o, const struct value *by,
                        struct str key, struct err *err) MUST_CHECK;
/* Tell whether the bytes, perhaps from the store, are such a place. */
bool query_order_has(const struct query_order *o, struct str place);

/*
 * Append the condition for rows after a place: (a > x OR (a = x AND (b > y OR …))).  Optimizers
 * turn this into key ranges, which they do not do for a row comparison.
 */
void query_part_after(struct buf *sql, struct str alias, const struct query_order *o,
                      struct str after);
/* Append that for all other rows, those up to the place. */
void query_part_until(struct buf *sql, struct str alias, const struct query_order *o,
                      struct str until);
/* Append ORDER BY, or backwards. */
void query_part_order(struct buf *sql, struct str alias, const struct query_order *o,
                      bool backwards);

#endif
