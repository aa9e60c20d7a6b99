/*
 * struct plan: one table definition compiled against the live schemas.
 *
 * Says which columns to read, how each becomes a JSON field, where the relations hang, and how
 * a changed related row leads to root keys.  Immutable, reference-counted.
 *
 * @thread any
 */
#ifndef SYNC_DOCUMENT_PLAN_H
#define SYNC_DOCUMENT_PLAN_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct column;
struct definitions;
struct table_definition;
struct schema;
struct value;
struct plan;

/*
 * Find the schema of a topic's table by its names on the server.  Borrowed (the plan takes its
 * own reference); NULL if unknown.
 */
typedef struct schema *(*plan_schema_fn)(void *ctx, struct str topic, struct str database,
                                         struct str table);

struct plan *plan_compile(const struct definitions *defs, const struct table_definition *table,
                          plan_schema_fn find, void *ctx, struct err *err) MUST_CHECK;
void plan_free(void *plan);

/* Tell whether the row image alone makes the document: no relations, no filter in SQL. */
bool plan_is_flat(const struct plan *p);
/* Tell whether there is a filter, so that rows of the root's table may have no document. */
bool plan_is_filtered(const struct plan *p);

/* Tell whether documents are routed by their root (join). */
bool plan_is_routed(const struct plan *p);

/*
 * The places of a plan: number 0 is the root, the others are related tables, one number per
 * place in the tree (a table may have several). database and table are the names on the server,
 * as in row events.
 */
size_t plan_n_places(const struct plan *p);
void plan_place(const struct plan *p, size_t place, struct str *database, struct str *table,
                bool *refresh);
/* The schema the plan was compiled with, borrowed. */
struct schema *plan_place_schema(const struct plan *p, size_t place);

/*
 * Tell whether the routing is not in the row but looked up over its parents (a join below its
 * second level).  Then only a read tells where a document is, and nothing tells where it was.
 */
bool plan_is_routed_by_path(const struct plan *p);
/* Tell whether a change of this place's rows moves documents that way. */
bool plan_place_leads(const struct plan *p, size_t place);

/* The topics whose servers have its tables; number 0 is the root's.  Borrowed. */
size_t plan_n_topics(const struct plan *p);
struct str plan_topic(const struct plan *p, size_t number);
/* The topic number of a place. */
size_t plan_place_topic(const struct plan *p, size_t place);

/*
 * The areas: members of the document that are written alone, as `refresh: area` asks for
 * (sync/delivery/document/area.h).  Returns n borrowed names.  If n is 0, *why_not says why
 * there are none, empty if nobody asked; why_not may be NULL.
 */
const struct str *plan_areas(const struct plan *p, size_t *n, struct str *why_not);
/* The area, from 1, that a change of this place's rows affects; 0 for the whole document. */
uint8_t plan_area_of(const struct plan *p, size_t place);

/*
 * Map the plan's columns of one place to rows in the order of row_schema, which may be newer or
 * older than the plan's.  A column that the rows lack, or have with another type, is absent
 * from their images.  ERR_REJECT names a missing column of the key or of a join.
 */
struct binding;
struct binding *plan_bind(const struct plan *p, size_t place, const struct schema *row_schema,
                          struct err *err) MUST_CHECK;
void binding_free(struct binding *b);

/*
 * Set generated[i] to the expression of each generated column i of a row that the node reads;
 * borrowed from the plan.
 */
void binding_mark_generated(const struct binding *b, struct str *generated);

enum plan_part {
    PLAN_KEY, /* the root's key and routing columns, or the join columns of a related row */
    PLAN_ROW  /* all columns read */
};
/* The first column of that part missing from a row's image; NULL if complete. */
const struct column *plan_find_absent(const struct plan *p, size_t place,
                                      const struct binding *b, const struct value *row,
                                      enum plan_part part);

/*
 * Tell whether the root row has a document: its parent, and its root if that is in the row, are
 * known (join).
 */
bool plan_is_rooted(const struct plan *p, const struct binding *b, const struct value *row);

/*
 * Append the rooted row's _id, key (opaque, for the loader) and routing.  If routed by path,
 * the routing is the one its own column gives, or empty: only a read tells the true one.
 * ERR_REJECT if its key makes no `_id`, or it has no key (key is then empty); or if its
 * parent's key makes none: routing is then its own `_id`, where no document lies, only its dead
 * letter.
 */
bool plan_root_id(const struct plan *p, const struct binding *b, const struct value *row,
                  struct buf *id, struct buf *key, struct buf *routing,
                  struct err *err) MUST_CHECK;

/*
 * Convert an `_id` from a user or the store to a key (opaque, for the loader).  ERR_REJECT if
 * it is malformed.
 */
bool plan_key_of_id(const struct plan *p, struct str id, struct buf *key,
                    struct err *err) MUST_CHECK;

/* Append a flat table's document, built from its row.  ERR_REJECT if it cannot be built. */
bool plan_flat_document(const struct plan *p, const struct binding *b, const struct value *row,
                        struct buf *body, struct err *err) MUST_CHECK;

/*
 * Tell whether the update old -> new of this place's row can change any document (through
 * columns used, keys or joins), or the key that finds such a row (resolver_row_key()).  A
 * column missing from both images did not change (sync/decode/row_fill.h).
 */
bool plan_update_matters(const struct plan *p, size_t place, const struct binding *b,
                         const struct value *old_row, const struct value *new_row);

/*
 * Tell whether changing this column of this place's rows can change documents: the node reads
 * the column or one generated from it, or its condition or order names it.
 */
bool plan_reads(const struct plan *p, size_t place, struct str column);

/*
 * Tell whether an update of a root row may change its parent, or the columns that tell its root
 * (join).
 */
bool plan_update_moves(const struct plan *p, const struct binding *b,
                       const struct value *old_row, const struct value *new_row);

/* Tell whether the update certainly leaves a related row joined to the same values. */
bool plan_update_keeps_joins(const struct plan *p, size_t place, const struct binding *b,
                             const struct value *old_row, const struct value *new_row);

#endif
