/*
 * The definitions: topics, databases, tables, columns, relations (the contract in part 4 of the
 * design).
 *
 * struct definitions is immutable and reference-counted; its arena holds all parts.  An empty
 * str means "not given"; comments name the defaults.  The reader drops values equal to their
 * default, so two definitions with the same meaning compare equal.
 *
 * @thread any
 */
#ifndef SYNC_DEFINITION_DEFINITION_H
#define SYNC_DEFINITION_DEFINITION_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/str.h"
#include "src/format/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls_definition {
    bool given;
    struct str ca_file, cert_file, key_file;
    bool verify; /* default: true */
};

/* How to reach the server of a topic, or of a database that has its own. */
struct server_definition {
    struct str address; /* host, host:port or a socket path */
    struct str user;
    struct str password_file, password_env, password;
    struct str server_public_key_file;
    struct tls_definition tls;
};

enum zero_date { ZERO_DATE_NULL = 0, ZERO_DATE_TEXT, ZERO_DATE_DEAD_LETTER };

/* What to do if the log has a gap. */
enum on_gap { ON_GAP_STOP = 0, ON_GAP_REBUILD };

struct topic_definition {
    struct place place;
    struct str name;
    struct server_definition server;
    uint32_t server_id; /* 0: generate one and keep it in the store */
    struct str start;   /* now (default), FILE:POSITION or a GTID set */
    struct str group, time_zone, day_zone, description;
    enum zero_date zero_date;
    enum on_gap on_gap;
};

struct database_definition {
    struct place place;
    struct str name;
    struct str topic;
    struct str schema; /* default: name */
    bool own_server;
    struct server_definition server; /* if own_server; missing parts come from the topic */
};

struct column_definition {
    struct place place;
    struct str name; /* "*" for every column not listed */
    struct str as;   /* default: name */
    struct str type; /* default: derived from the column */
    struct str analyzer, search_analyzer, format;
    bool keyword; /* add a keyword sub-field */
    struct str *copy_to;
    size_t n_copy_to;
    bool skip;
    bool has_default, has_value;
    struct str default_json, value_json; /* JSON text */
    struct str transform_json;           /* JSON text of the list; empty if none */
};

/* What to do with an index if a DDL changes its tables' shape or values. */
enum schema_changes { SCHEMA_CHANGES_FOLLOW = 0, SCHEMA_CHANGES_STOP };

enum refresh { REFRESH_PARENT = 0, REFRESH_AREA, REFRESH_NONE };

struct through_definition {
    bool given;
    struct str table; /* DATABASE.TABLE */
    struct str *from, *to;
    size_t n_from, n_to;
};

struct relation_definition {
    struct place place;
    struct str *from; /* columns of the outer table */
    size_t n_from;
    struct str table; /* DATABASE.TABLE */
    struct str
        *to; /* columns of this table, as many as `from`; with through, as many as its `to` */
    size_t n_to;
    struct str as; /* default: the table's name without its database */
    bool many;
    bool nested;
    bool flattened;
    bool distinct;
    struct str where; /* free_sql */
    struct str order_by;
    uint32_t limit;     /* 0 for none */
    uint32_t max_depth; /* 0 for none */
    struct str values;  /* a column: show an array of its values */
    enum refresh refresh;
    bool all_columns; /* `columns` is not given: show all */
    struct column_definition *columns;
    size_t n_columns;
    struct through_definition through;
    struct relation_definition *relations;
    size_t n_relations;
};

struct join_definition {
    bool given;
    struct str name;
    struct str field;  /* default: join */
    struct str parent; /* table */
    struct str *parent_columns;
    size_t n_parent_columns;
};

enum compare_trees { COMPARE_TREES_DEFAULT = 0, COMPARE_TREES_KEEP, COMPARE_TREES_NONE };

/* How the table's index is compared by itself. 0: as the configuration says for all. */
struct compare_definition {
    bool given;
    enum compare_trees trees;
    uint32_t exchange_every_s, every_s;
    uint32_t rate; /* rows and ids per second */
};

struct table_definition {
    struct place place;
    struct str table;   /* DATABASE.TABLE (the database's name here, not its schema) */
    struct str pattern; /* instead of table */
    struct str source_field;
    struct str index; /* alias; default: the table's name */
    struct str *key;  /* default: the primary key */
    size_t n_key;
    struct str **unique_keys; /* n_unique_keys lists, each ending with an empty str */
    size_t n_unique_keys;
    struct str bucket_column, daily_check_column;
    struct str *copy_to; /* fields that all its text and keyword columns are copied to */
    size_t n_copy_to;
    struct str settings_json, mapping_json; /* JSON objects as text; empty if none */
    struct str pipeline;                    /* the engine's ingest pipeline; empty: none */
    enum schema_changes schema_changes;
    struct compare_definition compare;
    bool delayed;
    struct str filter;
    bool soft_delete_given;
    struct str soft_delete_column,
        soft_delete_json; /* the value that marks a deleted row, JSON text */
    uint32_t sync_every_s;
    struct str *root_columns; /* for a join, below its second level */
    size_t n_root_columns;
    struct str top_relations_json; /* the list as JSON text; empty if none */
    bool all_columns;
    struct column_definition *columns;
    size_t n_columns;
    struct relation_definition *relations;
    size_t n_relations;
    struct join_definition join;
};

/* Where a text was written, keyed by the address of its bytes. */
struct text_place {
    const char *text;
    struct place place;
};

/* Limits each kind.  The tables of a `pattern` do not count. */
#define DEFINITIONS_MAX 10000

struct map;

struct definitions {
    struct topic_definition *topics;
    size_t n_topics;
    struct database_definition *databases;
    size_t n_databases;
    struct table_definition *tables;
    size_t n_tables;
    struct text_place *places; /* sorted by address */
    size_t n_places;
    struct map *tables_by_name; /* NULL until definitions_index_tables() */
    struct arena *arena;
    uint64_t revision; /* that the store has them as; 0: not from a store */
    unsigned refs;
};

struct definitions *definitions_new(void) RETURNS_NONNULL MUST_CHECK;
struct definitions *definitions_ref(struct definitions *d) RETURNS_NONNULL;
void definitions_unref(struct definitions *d); /* NULL is allowed */

const struct topic_definition *definitions_topic(const struct definitions *d, struct str name);
/* The zone of its days: "UTC", "+08:00", "Europe/Berlin"; borrowed. */
struct str topic_day_zone(const struct topic_definition *t);
const struct database_definition *definitions_database(const struct definitions *d,
                                                       struct str name);
/* Call once all tables are added: none may move after this.  Enables look-ups by name. */
void definitions_index_tables(struct definitions *d);
/* table is a name as from table_name(). */
const struct table_definition *definitions_table(const struct definitions *d, struct str table);
/* Returns the topic of table DATABASE.TABLE, or NULL. */
const struct topic_definition *definitions_topic_of(const struct definitions *d,
                                                    struct str table);

/* Visit the table and all tables that its relations reach, at any depth. */
typedef void (*definition_table_fn)(void *ctx, struct str table);
void table_visit(const struct table_definition *t, definition_table_fn visit, void *ctx);
/*
 * Tells whether documents of some table of the index pass an ingest pipeline, also one that
 * only the index's settings name.
 */
bool definitions_index_is_piped(const struct definitions *d, struct str index);
/* Tells whether the table, or one that its relations reach, is of another topic. */
bool table_is_cross_topic(const struct definitions *d, const struct table_definition *t,
                          struct str topic);

/* Split "shop.orders" in two.  Returns false if there is no dot. */
bool definition_split_table(struct str table, struct str *database, struct str *name);
/* The server location of a DATABASE.TABLE.  Borrowed. */
struct table_location {
    struct str topic;
    struct str schema, name; /* the names on the server */
};
/* Returns false if no such database is defined. */
bool definitions_locate(const struct definitions *d, struct str table,
                        struct table_location *out);
/* The name of a table's definition: DATABASE.TABLE, or its pattern. */
struct str table_name(const struct table_definition *t);
/* The index alias of a table, given or default; empty for a pattern without one. */
struct str table_index(const struct table_definition *t);
/* The names in the document, given or default. */
struct str column_as(const struct column_definition *c);
struct str relation_as(const struct relation_definition *r);
/* The database's name on its server, given or default. */
struct str database_schema(const struct database_definition *d);
/* The columns that a relation shows.  For `values` the single column is made in *room. */
struct relation_columns {
    bool all;
    const struct column_definition *columns;
    size_t n;
};
struct relation_columns relation_columns(const struct relation_definition *r,
                                         struct column_definition *room);
/*
 * Tell whether one of these relations, at any depth, has area updates: only its part of a
 * document is rewritten.
 */
bool relations_want_areas(const struct relation_definition *relations, size_t n);
/* Tell whether c is `*`, every column not listed. */
bool column_is_rest(const struct column_definition *c);
/* Tell whether the list names the column, ignoring case. */
bool columns_mention(const struct column_definition *columns, size_t n, struct str name);

/* Where this very text of d was written, or `otherwise` if it was not (a default). */
struct place definitions_place(const struct definitions *d, struct str text,
                               struct place otherwise);
/* For the code that fills d: add each place, then sort once at the end. */
void definitions_add_place(struct definitions *d, struct str text, struct place place);
void definitions_sort_places(struct definitions *d);

#endif
