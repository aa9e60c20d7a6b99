/*
 * struct plan: one table definition compiled against the live schemas.
 *
 * Says which columns are read, how each becomes a JSON field, which relations hang where, and
 * how a change of a related row leads to root keys.  Immutable, reference-counted.
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

/* Finds the schema of a topic's database.table, by the names on its server (borrowed; the plan
 * takes its own reference); NULL: unknown. */
typedef struct schema *(*plan_schema_fn)(void *ctx, struct str topic, struct str database,
                                         struct str table);

struct plan *plan_compile(const struct definitions *defs, const struct table_definition *table,
                          plan_schema_fn find, void *ctx, struct err *err) MUST_CHECK;
void plan_free(void *plan);

/* True when documents come from the row image alone: no relations, no filter in SQL. */
bool plan_is_flat(const struct plan *p);
/* True when rows of the root's table may have no document: there is a filter. */
bool plan_is_filtered(const struct plan *p);

/* True when documents lie where their root does (join). */
bool plan_is_routed(const struct plan *p);

/*
 * The tables that a plan looks at: number 0 is the root, the others are related ones, one for
 * each place in the tree (a table may stand in several places).  database and table are the
 * names on the server, as rows come with them.
 */
size_t plan_n_places(const struct plan *p);
void plan_place(const struct plan *p, size_t place, struct str *database, struct str *table,
                bool *refresh);

/*
 * True when the routing is not in the row but looked up over its parents (join, below the second
 * level): only a read tells where a document lies, and nothing where it did.
 */
bool plan_is_routed_by_path(const struct plan *p);
/* Whether a change of that place's rows moves documents so. */
bool plan_place_leads(const struct plan *p, size_t place);

/* The topics whose servers its tables are on: number 0 is the root's.  Borrowed. */
size_t plan_n_topics(const struct plan *p);
struct str plan_topic(const struct plan *p, size_t number);
/* The number of the one that a place is on. */
size_t plan_place_topic(const struct plan *p, size_t place);

/*
 * Areas: members of the document that are written alone where `refresh: area` wants it
 * (sync/delivery/area.h).  Their names, n of them; borrowed.  n is 0 where there are none, or
 * none can be: *why_not says why then (empty: nobody wants any; NULL is fine).
 */
const struct str *plan_areas(const struct plan *p, size_t *n, struct str *why_not);
/* The area, from 1, that a change of that place's rows is a matter of; 0: of the whole. */
uint8_t plan_area_of(const struct plan *p, size_t place);

/*
 * Rows arrive as values in the order of a schema that may be newer or older than the plan's.
 * A binding maps the plan's columns of one place to that order.  A column that the rows have
 * not, or have of another type, is absent from their images; ERR_REJECT names one of the key,
 * or of those that are joined by, that is not there.
 */
struct binding;
struct binding *plan_bind(const struct plan *p, size_t place, const struct schema *row_schema,
                          struct err *err) MUST_CHECK;
void binding_free(struct binding *b);

/* Set generated[i] to its expression for each column i of a row that is read and that the server
 * computes; borrowed from the plan. */
void binding_mark_generated(const struct binding *b, struct str *generated);

enum plan_part {
    PLAN_KEY, /* the root's key and what it is routed by, or what a related row is joined by */
    PLAN_ROW  /* every column that is read */
};
/* The first column of that part which the image of a row lacks; NULL: it has them all. */
const struct column *plan_find_absent(const struct plan *p, size_t place,
                                      const struct binding *b, const struct value *row,
                                      enum plan_part part);

/* Whether the root row has a document as far as its parent and, where that is in the row, its
 * root are known (join). */
bool plan_is_rooted(const struct plan *p, const struct binding *b, const struct value *row);

/* The rooted row's _id, key (opaque, for the loader) and routing, appended.  Routed by path, that
 * is the one that its own column says, or nothing: where the document lies only a read tells.
 * ERR_REJECT: its key makes no `_id`, or there is none (then key is empty); or its parent's makes
 * none: then routing is its own `_id`, by which no document lies and its dead letter does. */
bool plan_root_id(const struct plan *p, const struct binding *b, const struct value *row,
                  struct buf *id, struct buf *key, struct buf *routing,
                  struct err *err) MUST_CHECK;

/* The key (opaque, for the loader) of an `_id` that a person or the store names.  ERR_REJECT:
 * none. */
bool plan_key_of_id(const struct plan *p, struct str id, struct buf *key,
                    struct err *err) MUST_CHECK;

/* A flat table's document from its row, appended.  ERR_REJECT: it cannot be built. */
bool plan_flat_document(const struct plan *p, const struct binding *b, const struct value *row,
                        struct buf *body, struct err *err) MUST_CHECK;

/*
 * Whether the update old -> new of this place's row can change any document (columns used,
 * keys, joins), or the key by which such a row is looked up (resolver_row_key()).  A column
 * that both images lack was not changed (sync/binlog/row_fill.h).
 */
bool plan_update_matters(const struct plan *p, size_t place, const struct binding *b,
                         const struct value *old_row, const struct value *new_row);

/* Whether another value of that column of this place's rows may change documents: it is read, or
 * something that is may be computed of it, or its condition or order names it. */
bool plan_reads(const struct plan *p, size_t place, struct str column);

/* Whether the update of a root row may give it another parent, or other columns that say its root
 * (join). */
bool plan_update_moves(const struct plan *p, const struct binding *b,
                       const struct value *old_row, const struct value *new_row);

/* Whether the update is known to leave a related row where it was, joined by the same values.
 */
bool plan_update_keeps_joins(const struct plan *p, size_t place, const struct binding *b,
                             const struct value *old_row, const struct value *new_row);

#endif
