/*
 * A row's part of a document: its members and, for the root's row, its key.
 *
 * Rows have the order of the node's columns (from the loader), or that of another schema; map
 * then says where each column is.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_ROW_DOCUMENT_H
#define SYNC_DOCUMENT_ROW_DOCUMENT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct plan_node;
struct buf;
struct value;

/* Append "a":1,"b":"x" without braces.  ERR_REJECT if the document cannot be built. */
bool row_document_members(const struct plan_node *b, const size_t *map, const struct value *row,
                          struct buf *out, struct err *err) MUST_CHECK;

/*
 * Append the values of the joins' inner columns as a key.  ERR_REJECT if one is NULL or
 * unusable.
 */
bool row_document_key(const struct plan_node *b, const size_t *map, const struct value *row,
                      struct buf *key, struct err *err) MUST_CHECK;

/* Append those of the outer columns; row is the parent's. */
bool row_document_outer_key(const struct plan_node *b, const struct value *row, struct buf *key,
                            struct err *err) MUST_CHECK;

/* Tell whether the root's row has a document, as far as its routing is known. */
bool row_document_is_rooted(const struct plan_node *root, const size_t *map,
                            const struct value *row);

/* The same, without regard to its root. */
bool row_document_has_parent(const struct plan_node *root, const size_t *map,
                             const struct value *row);

/*
 * Append the routing of a rooted row of the root with this id; nothing if not routed.
 * ERR_REJECT if its document has no place.
 */
bool row_document_routing(const struct plan_node *root, const size_t *map,
                          const struct value *row, struct str id, struct buf *routing,
                          struct err *err) MUST_CHECK;

/* Append the _id for a key of the root. */
bool row_document_id(const struct plan_node *root, struct str key, struct buf *id,
                     struct err *err) MUST_CHECK;
bool row_document_parse_id(const struct plan_node *root, struct str id, struct buf *key,
                           struct err *err) MUST_CHECK;

#endif
