/*
 * The text of the statement from related rows up to the keys of the documents that hold them.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_QUERY_ROOTS_H
#define SYNC_DOCUMENT_QUERY_ROOTS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/mysql/mysql.h"

#include <stdbool.h>
#include <stddef.h>

struct plan_node;
struct buf;

/*
 * How far up one statement leads from a node, given values of its joins' inner columns: to
 * the root, or to the last node before a table on another server, which joins it from there.
 */
const struct plan_node *query_roots_top(const struct plan_node *b);

/*
 * Select the root keys for n join keys of a related node (values of the joins' inner
 * columns).  Cells: the join key's index, the root's key columns, then those of membership's
 * root (NULL if unknown).
 *
 * Returns the first pairs found, which is cheap however many there are; or, with in_order, each
 * root once, in key order after `after`, with NULL for the join key.  If query_roots_top() is
 * not the root, selects the values of its joins' inner columns instead of the root's key.
 */
struct query_roots {
    enum mysql_flavor flavor; /* of the server of node->parent */
    const struct plan_node *node;
    const struct str *keys;
    size_t n;
    bool in_order;
    struct str after; /* empty: from the start */
    struct str until; /* with in_order: up to and including this key; empty: to the end */
    size_t limit;
};
void query_roots(struct buf *sql, const struct query_roots *q);

#endif
