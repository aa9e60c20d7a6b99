/* Tables as a server would describe them, for tests without one. */
#ifndef TESTS_UNIT_FAKE_CATALOG_H
#define TESTS_UNIT_FAKE_CATALOG_H

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "sync/catalog/catalog.h"
#include "sync/catalog/column.h"

#include <string.h>

#define FAKE_TABLES_MAX 16

struct fake_catalog {
    struct arena *arena;
    struct table_facts facts[FAKE_TABLES_MAX];
    size_t n;
};

/* The next piece of *text up to the separator; false at the end. */
static inline bool fake_next(struct str *text, char separator, struct str *piece)
{
    const char *end = text->len == 0 ? NULL : memchr(text->ptr, separator, text->len);
    size_t len = end == NULL ? text->len : (size_t)(end - text->ptr);

    if (text->len == 0)
        return false;
    *piece = (struct str){text->ptr, len};
    while (piece->len > 0 && piece->ptr[0] == ' ')
        *piece = (struct str){piece->ptr + 1, piece->len - 1};
    len += end == NULL ? 0 : 1;
    *text = (struct str){text->ptr + len, text->len - len};
    return true;
}

static inline bool fake_has(struct str text, const char *word)
{
    return memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

/*
 * "qty int(11) unsigned NOT NULL DEFAULT": as information_schema has it, with NULL by default.
 * GENERATED and INVISIBLE stand behind as well, and AS(what it is generated from) behind all.
 */
static inline void fake_column(struct arena *a, struct str text, struct column *out)
{
    const char *as = memmem(text.ptr, text.len, " AS(", 4);
    const struct str expression =
        as == NULL ? (struct str){NULL, 0}
                   : (struct str){as + 4, (size_t)(text.ptr + text.len - as) - 5};
    struct str name, type;
    char digits[2][8] = {"", ""};
    const char *open, *not_null = memmem(text.ptr, text.len, " NOT NULL", 9);
    size_t n = 0, which = 0;

    text.len = as == NULL ? text.len : (size_t)(as - text.ptr);
    type = text;
    assert_true(fake_next(&type, ' ', &name));
    if (not_null != NULL)
        type.len = (size_t)(not_null - type.ptr);
    if (fake_has(type, " DEFAULT"))
        type.len -= strlen(" DEFAULT");
    while (n < type.len && type.ptr[n] != '(' && type.ptr[n] != ' ')
        n++;
    open = memchr(type.ptr, '(', type.len);
    for (const char *p = open; p != NULL && *p != ')' && which < 2; p++) {
        if (*p == ',')
            which++;
        if (*p >= '0' && *p <= '9' && strlen(digits[which]) < 7)
            digits[which][strlen(digits[which])] = *p;
    }

    bool is_text =
        memmem(type.ptr, n, "char", 4) != NULL || memmem(type.ptr, n, "text", 4) != NULL;
    const struct catalog_cells cells = {
        .name = name,
        .data_type = {type.ptr, n},
        .column_type = type,
        .is_nullable = not_null != NULL ? STR("NO") : STR("YES"),
        .extra = fake_has(text, "INVISIBLE")                 ? STR("INVISIBLE")
                 : fake_has(text, "GENERATED") || as != NULL ? STR("STORED GENERATED")
                                                             : STR(""),
        .expression = expression,
        .column_default = fake_has(text, " DEFAULT") ? STR("7") : (struct str){NULL, 0},
        .charset = is_text ? STR("utf8mb4") : STR(""),
        .collation = is_text ? STR("utf8mb4_general_ci") : STR(""),
        .char_length = str_from(digits[0]),
        .precision = str_from(digits[0]),
        .scale = str_from(digits[1]),
        .fsp = str_from(digits[0]),
    };

    catalog_column(&cells, a, out);
}

/*
 * columns: "id int NOT NULL; name varchar(20)"; indexes: "PRIMARY=id; UNIQUE mail=mail; k=a,b".
 * A column's pieces are separated by blanks, so labels of ENUMs hold none.
 */
static inline struct table_facts *fake_table(struct fake_catalog *f, const char *name,
                                             const char *columns, const char *indexes)
{
    struct table_facts *facts = &f->facts[f->n++];
    struct schema *s = schema_new(STR("shop"), str_from(name));
    struct str rest = str_from(columns), piece, column;

    assert_true(f->n <= FAKE_TABLES_MAX);
    s->columns = arena_alloc(s->arena, 64, sizeof(*s->columns));
    while (fake_next(&rest, ';', &piece))
        fake_column(s->arena, piece, &s->columns[s->n_columns++]);
    s->key = arena_alloc(s->arena, 8, sizeof(*s->key));
    *facts = (struct table_facts){.schema = s, .n_rows = 1000};
    facts->indexes = arena_alloc(f->arena, 8, sizeof(*facts->indexes));
    rest = str_from(indexes);
    while (fake_next(&rest, ';', &piece)) {
        struct catalog_index *index = &facts->indexes[facts->n_indexes++];
        bool unique = piece.len > 7 && memcmp(piece.ptr, "UNIQUE ", 7) == 0;

        if (unique)
            piece = (struct str){piece.ptr + 7, piece.len - 7};
        assert_true(fake_next(&piece, '=', &index->name));
        index->is_unique = unique || str_equal(index->name, STR("PRIMARY"));
        index->columns = arena_alloc(f->arena, 8, sizeof(*index->columns));
        while (fake_next(&piece, ',', &column)) {
            index->columns[index->n_columns++] = column;
            if (str_equal(index->name, STR("PRIMARY")))
                s->key[s->n_key++] = schema_find(s, column);
        }
    }
    return facts;
}

static inline const struct table_facts *fake_find(void *ctx, struct str topic,
                                                  struct str schema, struct str table)
{
    const struct fake_catalog *f = ctx;

    (void)topic;
    for (size_t i = 0; i < f->n; i++)
        if (str_equal(schema, STR("shop")) && str_equal(f->facts[i].schema->table, table))
            return &f->facts[i];
    return NULL;
}

static inline struct schema *fake_find_schema(void *ctx, struct str topic, struct str schema,
                                              struct str table)
{
    const struct table_facts *facts = fake_find(ctx, topic, schema, table);

    return facts == NULL ? NULL : facts->schema;
}

static inline void fake_catalog_fini(struct fake_catalog *f)
{
    table_facts_fini(f->facts, f->n);
    arena_free(f->arena);
    f->n = 0;
}

#endif
