/* Schemas and definitions for the tests of documents, made by hand. */
#ifndef TESTS_UNIT_DOCUMENT_FIXTURE_H
#define TESTS_UNIT_DOCUMENT_FIXTURE_H

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/definition/definition.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

#include <stdlib.h>

#define COLUMNS_MAX 32

/* A schema to which columns are added; the first n_key of them are the primary key. */
static inline struct schema *make_schema(const char *table, size_t n_key)
{
    struct schema *s = schema_new(STR("db"), str_from(table));

    s->columns = arena_alloc(s->arena, COLUMNS_MAX, sizeof(*s->columns));
    s->key = arena_alloc(s->arena, n_key, sizeof(*s->key));
    for (size_t i = 0; i < n_key; i++)
        s->key[i] = i;
    s->n_key = n_key;
    return s;
}

static inline struct column *add_column(struct schema *s, const char *name,
                                        enum column_type type)
{
    struct column *c = &s->columns[s->n_columns++];

    *c = (struct column){.name = str_from(name), .type_text = STR("a type"), .type = type};
    if (type == COLUMN_CHAR || type == COLUMN_VARCHAR || type == COLUMN_TEXT ||
        type == COLUMN_ENUM || type == COLUMN_SET) {
        c->charset = STR("utf8mb4");
        c->collation = STR("utf8mb4_general_ci");
    }
    return c;
}

static inline void set_labels(struct column *c, struct str *labels, size_t n)
{
    c->labels = labels;
    c->n_labels = n;
}

/* One topic, one database called db, and the tables given (borrowed). */
static inline struct definitions *make_definitions(struct table_definition *tables, size_t n)
{
    static struct topic_definition topic;
    static struct database_definition database;
    struct definitions *d = definitions_new();

    topic = (struct topic_definition){.name = STR("shop")};
    database = (struct database_definition){.name = STR("db"), .topic = STR("shop")};
    d->topics = &topic;
    d->n_topics = 1;
    d->databases = &database;
    d->n_databases = 1;
    d->tables = tables;
    d->n_tables = n;
    return d;
}

static inline struct value int_value(int64_t i)
{
    return (struct value){.kind = VALUE_INT, .i = i};
}

static inline struct value text_value(const char *text)
{
    return (struct value){.kind = VALUE_TEXT, .s = str_from(text)};
}

static inline struct value null_value(void)
{
    return (struct value){.kind = VALUE_NULL};
}

static inline const char *text_of(struct buf *b)
{
    return b->ptr != NULL ? b->ptr : "";
}

#endif
