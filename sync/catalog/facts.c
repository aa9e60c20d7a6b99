#include "config.h"

#include "sync/catalog/parts.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/mysql/mysql.h"

#include <string.h>

#define ABSENT_MAX 10 /* tables of a database that do not exist, before the others count so */

struct facts_loading {
    struct arena *arena;
    struct table_facts *facts;
};

static bool is_true(struct str cell)
{
    return str_equal(cell, STR("YES"));
}

/* 3 name, 4 sequence, 5 non-unique, 6 column, 7 prefix, 8 kind, 9 usable */
static void on_index(void *ctx, size_t table, const struct mysql_row *row)
{
    struct facts_loading *x = ctx;
    struct arena *a = x->arena;
    struct table_facts *f = &x->facts[table];
    const struct str *c = row->cells;
    bool first = str_equal(c[4], STR("1"));

    if (str_equal(c[8], STR("FULLTEXT")) || str_equal(c[8], STR("SPATIAL")) || !is_true(c[9]))
        return;
    if (first) {
        f->indexes = catalog_grow(a, f->indexes, f->n_indexes, sizeof(*f->indexes));
        f->indexes[f->n_indexes++] = (struct catalog_index){
            .name = arena_copy(a, c[3]), .is_unique = str_equal(c[5], STR("0"))};
    }
    if (f->n_indexes == 0)
        return;

    struct catalog_index *index = &f->indexes[f->n_indexes - 1];

    index->columns = catalog_grow(a, index->columns, index->n_columns, sizeof(*index->columns));
    index->columns[index->n_columns++] = arena_copy(a, c[6]);
    index->has_prefix = index->has_prefix || c[7].len > 0;
}

/* The column of STATISTICS that says whether an index is usable, if this server has one. */
static const char *usable_column(const struct mysql_conn *c)
{
    if (mysql_conn_flavor(c) == FLAVOR_MYSQL)
        return mysql_conn_version(c) >= 80000 ? "IS_VISIBLE" : "'YES'";
    return mysql_conn_version(c) >= 100600 ? "IF(IGNORED = 'YES', 'NO', 'YES')" : "'YES'";
}

static bool load_indexes(struct catalog_reader *r, struct facts_loading *x, struct err *err)
{
    struct buf columns = {0};

    buf_printf(&columns,
               "TABLE_SCHEMA, TABLE_NAME, CONCAT(INDEX_NAME, '/', LPAD(SEQ_IN_INDEX, 3, '0')), "
               "INDEX_NAME, SEQ_IN_INDEX, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE, %s",
               usable_column(r->conn));

    const struct catalog_query q = {columns.ptr, "STATISTICS", "TABLE_SCHEMA", "TABLE_NAME",
                                    ""};
    bool fine = catalog_reader_run(r, &q, on_index, x, err);

    buf_free(&columns);
    return fine;
}

static bool load_facts(struct catalog_reader *r, struct facts_loading *x, struct err *err)
{
    struct schema **schemas = arena_alloc(x->arena, r->n, sizeof(struct schema *));
    uint64_t *n_rows = arena_alloc(x->arena, r->n, sizeof(*n_rows));
    const bool fine = catalog_read_schemas(r, schemas, n_rows, err);

    for (size_t i = 0; i < r->n; i++) {
        x->facts[i].schema = schemas[i];
        x->facts[i].n_rows = n_rows[i];
    }
    return fine && load_indexes(r, x, err);
}

bool catalog_load_facts(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                        struct arena *a, struct table_facts *out, struct err *err)
{
    struct catalog_reader r;
    bool fine = catalog_reader_open(&r, c, err);

    memset(out, 0, n * sizeof(*out));
    for (size_t i = 0; fine && catalog_reader_next(&r, names, n, i); i += r.n)
        fine = load_facts(&r, &(struct facts_loading){a, out + i}, err);
    if (!fine)
        table_facts_fini(out, n);
    catalog_reader_close(&r);
    return fine;
}

/*
 * Count the tables of a database that do not exist though we may read it: who has a right on
 * single tables alone is denied those that do not exist, too.
 */
static size_t *absent_of(struct map *m, struct arena *a, struct str schema)
{
    size_t *n = map_find(m, schema);

    if (n == NULL) {
        n = arena_alloc(a, 1, sizeof(*n));
        (void)map_put(m, schema, n);
    }
    return n;
}

bool catalog_find_denied(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                         struct table_facts *facts, struct err *err)
{
    struct arena *a = arena_new();
    struct map *absent = map_new();
    bool fine = true;

    for (size_t i = 0; fine && i < n; i++) {
        struct err *why = &facts[i].denied;
        size_t *n_absent =
            facts[i].schema != NULL ? NULL : absent_of(absent, a, names[i].schema);

        if (n_absent == NULL || *n_absent == ABSENT_MAX ||
            catalog_is_denied(c, &names[i], NULL, 0, why))
            continue;
        fine = why->kind == ERR_NONE;
        if (fine)
            ++*n_absent;
        else
            *err = *why;
    }
    map_free(absent, NULL);
    arena_free(a);
    return fine;
}

void table_facts_fini(struct table_facts *facts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        schema_unref(facts[i].schema);
        facts[i].schema = NULL;
    }
}
