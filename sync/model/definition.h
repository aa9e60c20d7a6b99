/*
 * The definitions: topics, databases, tables, columns, relations (the contract of the design,
 * part 4).
 *
 * A struct definitions is immutable and reference-counted; everything in it lives in its arena.
 * Empty str means "not given"; what a default is, is said beside the field.  What is written
 * equal to its default is not kept, so that two definitions that mean the same are the same.
 *
 * @thread any
 */
#ifndef SYNC_MODEL_DEFINITION_H
#define SYNC_MODEL_DEFINITION_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/str.h"
#include "src/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls_definition {
    bool given;
    struct str ca_file, cert_file, key_file;
    bool verify; /* default true */
};

/* How to reach a server: of a topic, and of a database that has its own. */
struct server_definition {
    struct str address; /* host, host:port or a socket path */
    struct str user;
    struct str password_file, password_env, password;
    struct tls_definition tls;
};

enum zero_date { ZERO_DATE_NULL = 0, ZERO_DATE_TEXT, ZERO_DATE_DEAD_LETTER };

/* What follows when the log cannot be followed on. */
enum on_gap { ON_GAP_STOP = 0, ON_GAP_REBUILD };

struct topic_definition {
    struct place place;
    struct str name;
    struct server_definition server;
    uint32_t server_id; /* 0: made and kept in the store */
    struct str start;   /* now (default), FILE:POSITION or a GTID set */
    struct str group, time_zone, description;
    enum zero_date zero_date;
    enum on_gap on_gap;
};

struct database_definition {
    struct place place;
    struct str name;
    struct str topic;
    struct str schema; /* default: name */
    bool own_server;
    struct server_definition server; /* when own_server: missing parts come from the topic */
};

struct column_definition {
    struct place place;
    struct str name; /* "*" stands for every column that is not listed */
    struct str as;   /* default: name */
    struct str type; /* default: from the column */
    struct str analyzer, search_analyzer, format;
    bool keyword; /* adds a keyword sub-field */
    struct str *copy_to;
    size_t n_copy_to;
    bool skip;
    bool has_default, has_value;
    struct str default_json, value_json; /* JSON text */
    struct str transform_json;           /* JSON text of the list; empty: none */
};

/* What becomes of an index when its tables change their shape, or their rows by it. */
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
    struct str *
        to; /* columns of this table; as many as from (of the link table's `to` with through) */
    size_t n_to;
    struct str as; /* default: the table's name without its database */
    bool many;
    bool nested;
    bool flattened;
    bool distinct;
    struct str where; /* free_sql */
    struct str order_by;
    uint32_t limit;     /* 0: none */
    uint32_t max_depth; /* 0: none */
    struct str values;  /* column: an array of single values */
    enum refresh refresh;
    bool all_columns; /* no `columns`: all of them */
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

struct table_definition {
    struct place place;
    struct str table;   /* DATABASE.TABLE (database is a database's name, not its schema) */
    struct str pattern; /* instead of table */
    struct str source_field;
    struct str index; /* alias; default: the table's name */
    struct str *key;  /* default: the primary key */
    size_t n_key;
    struct str **unique_keys; /* n_unique_keys lists, each ended by an empty str */
    size_t n_unique_keys;
    struct str bucket_column, daily_check_column;
    struct str settings_json, mapping_json; /* JSON objects as text; empty: none */
    enum schema_changes schema_changes;
    bool delayed;
    struct str filter;
    bool soft_delete_given;
    struct str soft_delete_column,
        soft_delete_json; /* the value that means deleted, JSON text */
    uint32_t sync_every_s;
    struct str *root_columns; /* of a join, below its second level */
    size_t n_root_columns;
    struct str top_relations_json; /* the list as JSON text; empty: none */
    bool all_columns;
    struct column_definition *columns;
    size_t n_columns;
    struct relation_definition *relations;
    size_t n_relations;
    struct join_definition join;
};

/* Where a text was written, found by the address of its bytes. */
struct text_place {
    const char *text;
    struct place place;
};

struct definitions {
    struct topic_definition *topics;
    size_t n_topics;
    struct database_definition *databases;
    size_t n_databases;
    struct table_definition *tables;
    size_t n_tables;
    struct text_place *places; /* in order of address */
    size_t n_places;
    struct arena *arena;
    unsigned refs;
};

struct definitions *definitions_new(void) RETURNS_NONNULL MUST_CHECK;
struct definitions *definitions_ref(struct definitions *d) RETURNS_NONNULL;
void definitions_unref(struct definitions *d); /* NULL is fine */

const struct topic_definition *definitions_topic(const struct definitions *d, struct str name);
const struct database_definition *definitions_database(const struct definitions *d,
                                                       struct str name);
/* table: as table_name(). */
const struct table_definition *definitions_table(const struct definitions *d, struct str table);
/* The topic that the table DATABASE.TABLE is on, or NULL. */
const struct topic_definition *definitions_topic_of(const struct definitions *d,
                                                    struct str table);

/* The table itself, and every table its relations lead to, at any depth. */
typedef void (*definition_table_fn)(void *ctx, struct str table);
void table_visit(const struct table_definition *t, definition_table_fn visit, void *ctx);

/* "shop.orders" into its two halves; false without a dot. */
bool definition_split_table(struct str table, struct str *database, struct str *name);
/* Where DATABASE.TABLE is, and what it is called there.  Borrowed. */
struct table_location {
    struct str topic;
    struct str schema, name; /* on its server */
};
/* False: no such database is defined. */
bool definitions_locate(const struct definitions *d, struct str table,
                        struct table_location *out);
/* What the definition of a table is called: DATABASE.TABLE, or its pattern. */
struct str table_name(const struct table_definition *t);
/* The index alias of a table, with its default applied; empty: a pattern without one. */
struct str table_index(const struct table_definition *t);
/* The names in the document, with their defaults applied. */
struct str column_as(const struct column_definition *c);
struct str relation_as(const struct relation_definition *r);
/* The name of the database on its server, with its default applied. */
struct str database_schema(const struct database_definition *d);
/*
 * What a relation shows of its rows: its columns, or the one of `values`, for which the caller
 * gives room.
 */
struct relation_columns {
    bool all;
    const struct column_definition *columns;
    size_t n;
};
struct relation_columns relation_columns(const struct relation_definition *r,
                                         struct column_definition *room);
/* Whether one of them, or of those below, wants only its part of documents to be written. */
bool relations_want_areas(const struct relation_definition *relations, size_t n);
/* True for `*`: every column that is not listed. */
bool column_is_rest(const struct column_definition *c);
/* Whether the column is listed by its name, in whatever case. */
bool columns_mention(const struct column_definition *columns, size_t n, struct str name);

/* Where this very text of d was written; `otherwise` when it was not (a default). */
struct place definitions_place(const struct definitions *d, struct str text,
                               struct place otherwise);
/* For whoever fills d: add what was read, and once at the end sort. */
void definitions_add_place(struct definitions *d, struct str text, struct place place);
void definitions_sort_places(struct definitions *d);

#endif
