/*
 * A row's part of a document: its members and, of the root's row, its key.
 *
 * Rows come in the order of the branch's own columns (from the loader), or in that of another
 * schema, with a map that says where each of these columns lies.
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

struct branch;
struct buf;
struct value;

/* "a":1,"b":"x" without braces.  ERR_REJECT: the document cannot be built. */
bool row_document_members(const struct branch *b, const size_t *map, const struct value *row,
                          struct buf *out, struct err *err) MUST_CHECK;

/* The values of the joins' inner columns as a key.  ERR_REJECT: NULL or not usable. */
bool row_document_key(const struct branch *b, const size_t *map, const struct value *row,
                      struct buf *key, struct err *err) MUST_CHECK;

/* The same of the outer columns: row is the parent's. */
bool row_document_outer_key(const struct branch *b, const struct value *row, struct buf *key,
                            struct err *err) MUST_CHECK;

/* Whether the root's row has a document, as far as it is known where that lies. */
bool row_document_is_rooted(const struct branch *root, const size_t *map,
                            const struct value *row);

/* The same, but for its root. */
bool row_document_has_parent(const struct branch *root, const size_t *map,
                             const struct value *row);

/* The routing of the root's rooted row, whose _id is id; nothing where there is none.  ERR_REJECT:
 * its document has no place. */
bool row_document_routing(const struct branch *root, const size_t *map, const struct value *row,
                          struct str id, struct buf *routing, struct err *err) MUST_CHECK;

/* The _id of a key of the root. */
bool row_document_id(const struct branch *root, struct str key, struct buf *id,
                     struct err *err) MUST_CHECK;
bool row_document_parse_id(const struct branch *root, struct str id, struct buf *key,
                           struct err *err) MUST_CHECK;

#endif
