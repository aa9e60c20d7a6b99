/*
 * struct table_map: what a TABLE_MAP event says of its table, as a plan for decoding its rows.
 *
 * Immutable and reference-counted, so rows can be decoded in other threads than the one that
 * reads.  Names, signs, character sets, labels and the key come from the log where it has them
 * (binlog_row_metadata=FULL), else from the schema that the caller knows; what the log cannot
 * say (UUID, INET, MariaDB's VECTOR and JSON) always comes from the schema.
 *
 * struct table_maps: those of the running statement by table id, and the plans of earlier ones,
 * so that a repeated TABLE_MAP costs a look-up.
 *
 * @thread table_map: any; table_maps: one at a time
 */
#ifndef SYNC_BINLOG_TABLE_MAP_H
#define SYNC_BINLOG_TABLE_MAP_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column_plan;
struct event_format;

struct table_map {
    struct str database;
    struct str table;
    bool wanted; /* false: nothing below is set */
    size_t n_columns;
    bool has_names;     /* else the schema's columns are "@1", "@2" ... */
    bool keeps_history; /* as schema_keeps_history() says */
    bool full_metadata; /* names, signs, character sets and labels came from the log */
    /*
     * Of the rows: one column for each of theirs.  That which want() gave, if it says the same
     * as the log, so that it may be compared by pointer.
     */
    struct schema *schema;
    struct column_plan *columns; /* one for each; see sync/binlog/cell.h */
    size_t text_max;             /* sum of their cell_text_max() */
    bool readable;               /* cells of every column can be read */
    /*
     * Not ERR_NONE: rows of this table cannot be decoded, and why (ERR_REJECT: the known schema
     * is another one than the log's, or the log has a column type that is not known).
     */
    struct err broken;
    struct arena *arena; /* owns all but the schema */
    unsigned refs;
};

struct table_map *table_map_ref(struct table_map *m) RETURNS_NONNULL;
void table_map_unref(struct table_map *m); /* NULL is fine */

/*
 * Says whether rows of a table are wanted.  If so, *schema may be set to what is known of the
 * table at this place of the log (a reference of the caller's, given away), or left NULL.
 */
typedef bool (*table_map_want_fn)(void *ctx, struct str database, struct str table,
                                  struct schema **schema);

struct table_maps;

/* want NULL: every table is wanted and nothing is known of any. */
struct table_maps *table_maps_new(table_map_want_fn want, void *ctx) RETURNS_NONNULL MUST_CHECK;
void table_maps_free(struct table_maps *t); /* NULL is fine */

/* A TABLE_MAP event's body.  Borrowed until the statement ends: take a reference to keep it. */
bool table_maps_add(struct table_maps *t, const struct event_format *f, struct str body,
                    struct table_map **out, struct err *err) MUST_CHECK;

/* NULL: the running statement has no table of this id. */
struct table_map *table_maps_find(const struct table_maps *t, uint64_t id);

/* The statement is over (STMT_END): ids mean nothing any more; plans are kept for equal bytes.
 */
void table_maps_end_statement(struct table_maps *t);

/* Forget the plans: after DDL, or when want() would answer differently. */
void table_maps_clear(struct table_maps *t);

#endif
