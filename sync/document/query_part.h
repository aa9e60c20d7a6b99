/*
 * Parts that the statements of the loader and the resolver are made of: a list of keys as a
 * table, conditions on keys, an order.
 *
 * Names that begin with _millrace cannot be a user's.  Everything is appended.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_QUERY_PART_H
#define SYNC_DOCUMENT_QUERY_PART_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/mysql.h"

#include <stdbool.h>
#include <stddef.h>

struct branch;
struct buf;
struct membership;

/* The column of a key's number in the list; those of its parts: query_part_of_key(). */
#define QUERY_NUMBER "_millrace_n"

/* `alias`.`column` */
void query_part_column(struct buf *sql, struct str alias, struct str column);

/* Keys of one branch's joins, encoded (key.h). */
struct query_keys {
    enum mysql_flavor flavor; /* of the server that is asked */
    const struct branch *branch;
    const struct str *keys;
    size_t n;
};
void query_part_of_key(struct buf *sql, size_t part);
/* WITH the list, where the server wants it in front.  inner: the keys are values of the joins'
 * inner columns, else of their outer ones. */
void query_part_with(struct buf *sql, const struct query_keys *k, bool inner);
/* The list where a table stands in FROM. */
void query_part_list(struct buf *sql, const struct query_keys *k, bool inner);

/* " WHERE " once, then " AND "; static. */
const char *query_part_and(bool *first);
/*
 * A part of the key of the document by which the root's row of that alias is routed: of a row
 * whose parents tell it, theirs.  The parts are all of one row, or all NULL.
 */
void query_part_root(struct buf *sql, struct str alias, const struct membership *m,
                     size_t part);
/* The rows of the root that have a key, and in a join a parent … */
void query_part_has_key(struct buf *sql, struct str alias, const struct branch *root,
                        bool *first);
/* … and a root. */
void query_part_has_root(struct buf *sql, struct str alias, const struct branch *root,
                         bool *first);
/*
 * Behind the key `after`: (a > x OR (a = x AND (b > y OR …))), which the optimizers make ranges
 * of the key; of a row comparison they do not.
 */
void query_part_after(struct buf *sql, struct str alias, const struct branch *root,
                      struct str after);
/* ORDER BY the root's key. */
void query_part_order(struct buf *sql, struct str alias, const struct branch *root);

#endif
