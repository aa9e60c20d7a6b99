/*
 * struct table_map: a TABLE_MAP event as a plan for decoding the table's rows.
 *
 * Immutable and reference-counted, so that other threads than the reader can decode rows.
 * Names, signs, character sets, labels and the key come from the log if it has them
 * (binlog_row_metadata=FULL), else from the schema that the caller knows.  What the log never
 * says (UUID, INET, MariaDB's VECTOR and JSON) comes from the schema.
 *
 * struct table_maps: the maps of the current statement by table id, and a cache of earlier
 * plans, so that a repeated TABLE_MAP costs one look-up.  Of tables that are not wanted it
 * caches a fixed number of names, so that a server may have any number of them.
 *
 * @thread table_map: any; table_maps: one at a time
 */
#ifndef SYNC_DECODE_TABLE_MAP_H
#define SYNC_DECODE_TABLE_MAP_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/value/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column_plan;
struct event_format;

struct table_map {
    struct str database;
    struct str table;
    bool wanted; /* if false, nothing below is set */
    size_t n_columns;
    bool has_names;     /* if false, the schema names the columns "@1", "@2" ... */
    bool keeps_history; /* see schema_keeps_history() */
    bool full_metadata; /* the log had names, signs, character sets and labels */
    /*
     * Describes the rows, one column for each of theirs.  The very schema that want() gave if
     * it agrees with the log, so that callers may compare pointers.
     */
    struct schema *schema;
    struct column_plan *columns; /* one per column; see sync/decode/cell.h */
    size_t text_max;             /* the sum of their text_max */
    bool readable;               /* the cells of all columns can be read */
    /*
     * Unless ERR_NONE, why rows of this table cannot be decoded.  ERR_REJECT: the known schema
     * contradicts the log, or the log has an unknown column type.
     */
    struct err broken;
    struct arena *arena; /* owns everything but the schema */
    unsigned refs;
};

struct table_map *table_map_ref(struct table_map *m) RETURNS_NONNULL;
void table_map_unref(struct table_map *m); /* NULL is allowed */

/*
 * Return whether rows of the table are wanted.  If so, may set *schema to the table's schema at
 * this place in the log; the callee takes that reference.
 */
typedef bool (*table_map_want_fn)(void *ctx, struct str database, struct str table,
                                  struct schema **schema);

struct table_maps;

/* want NULL: every table is wanted, no schema known. */
struct table_maps *table_maps_new(table_map_want_fn want, void *ctx) RETURNS_NONNULL MUST_CHECK;
void table_maps_free(struct table_maps *t); /* NULL is allowed */

/*
 * Parse the body of a TABLE_MAP event.  *out is borrowed until the statement ends; take a
 * reference to keep it.
 */
bool table_maps_add(struct table_maps *t, const struct event_format *f, struct str body,
                    struct table_map **out, struct err *err) MUST_CHECK;

/* Returns NULL if the current statement has no such table id. */
struct table_map *table_maps_find(const struct table_maps *t, uint64_t id);

/* End the statement (STMT_END): forget the ids, keep the plans for identical bytes. */
void table_maps_end_statement(struct table_maps *t);

/* Drop the plans: after DDL, or when want() would answer differently. */
void table_maps_clear(struct table_maps *t);

#endif
