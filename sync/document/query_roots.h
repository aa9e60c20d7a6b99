/*
 * The statement that leads from related rows up to the keys of the documents that hold them, as
 * text.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_QUERY_ROOTS_H
#define SYNC_DOCUMENT_QUERY_ROOTS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/mysql.h"

#include <stdbool.h>
#include <stddef.h>

struct branch;
struct buf;

/*
 * How far up one statement comes from a branch, whose joins' inner values it is given: the
 * root, or the last one before a table on another server, which stands below that by its own
 * joins.
 */
const struct branch *query_roots_top(const struct branch *b);

/*
 * The root keys behind n join keys of a related branch (values of the joins' inner columns);
 * cells: the join key's index, then the root's key columns and those
 * of membership's root (NULL: it is not known).  The first pairs of these that are
 * found, which is little work however many there are; or in_order: each root once, in key order
 * behind `after`, with NULL for the join key.  Where query_roots_top() is not the root: the
 * values of its joins' inner columns instead of the root's key.
 */
struct query_roots {
    enum mysql_flavor flavor; /* of the server of branch->parent */
    const struct branch *branch;
    const struct str *keys;
    size_t n;
    bool in_order;
    struct str after; /* empty: from the start */
    struct str until; /* of in_order: up to this one; empty: to the end */
    size_t limit;
};
void query_roots(struct buf *sql, const struct query_roots *q);

#endif
