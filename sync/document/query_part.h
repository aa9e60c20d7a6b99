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
#include "src/base/str.h"
#include "src/mysql/mysql.h"

#include <stdbool.h>
#include <stddef.h>

struct plan_node;
struct buf;
struct membership;

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
 * Append the condition for keys after `after`: (a > x OR (a = x AND (b > y OR …))).  Optimizers
 * turn this into key ranges, which they do not do for a row comparison.
 */
void query_part_after(struct buf *sql, struct str alias, const struct plan_node *root,
                      struct str after);
/* Append ORDER BY the root's key, or backwards. */
void query_part_order(struct buf *sql, struct str alias, const struct plan_node *root,
                      bool backwards);

#endif
