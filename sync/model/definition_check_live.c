#include "config.h"

#include "src/base/arena.h"
#include "src/mysql.h"
#include "sync/model/catalog.h"
#include "sync/model/definition_check.h"

struct live {
    struct mysql_conn *conn;
    const struct definitions *d;
    struct arena *arena;
    struct catalog_name *names;
    struct table_facts *facts;
    size_t n, cap;
    struct err *err;
    bool failed;
};

static void count_table(void *ctx, struct str table)
{
    (void)table;
    (*(size_t *)ctx)++;
}

static void name_table(void *ctx, struct str table)
{
    struct live *l = ctx;
    struct catalog_name found;

    if (!definitions_locate(l->d, table, &found.schema, &found.table))
        return;
    for (size_t i = 0; i < l->n; i++)
        if (str_equal(l->names[i].schema, found.schema) &&
            str_equal(l->names[i].table, found.table))
            return;
    l->names[l->n++] = found;
}

static const struct table_facts *find_live(void *ctx, struct str schema, struct str table)
{
    const struct live *l = ctx;

    for (size_t i = 0; i < l->n; i++)
        if (str_equal(l->names[i].schema, schema) && str_equal(l->names[i].table, table))
            return &l->facts[i];
    return NULL;
}

static bool each_live(void *ctx, struct str schema, void (*offer_to)(void *to, struct str name),
                      void *to)
{
    struct live *l = ctx;
    struct str *tables;
    size_t n = 0;

    if (l->failed ||
        !catalog_list_tables(l->conn, schema, 10000, l->arena, &tables, &n, l->err)) {
        l->failed = true;
        return true;
    }
    for (size_t i = 0; i < n; i++)
        offer_to(to, tables[i]);
    return n > 0;
}

static bool try_live(void *ctx, struct str schema, struct str table, enum catalog_clause clause,
                     struct str text, struct err *err)
{
    struct live *l = ctx;
    const struct catalog_name name = {schema, table};

    if (l->failed || catalog_try_clause(l->conn, &name, clause, text, err))
        return true;
    if (err->kind == ERR_REJECT)
        return false;
    *l->err = *err;
    l->failed = true;
    return true;
}

static bool count_live(void *ctx, const struct shares_wanted *wanted, struct catalog_shares *out)
{
    struct live *l = ctx;
    struct err err = {0};

    if (l->failed)
        return false;
    if (catalog_count_shares(l->conn, wanted, out, &err))
        return true;
    if (err.kind != ERR_REJECT) {
        *l->err = err;
        l->failed = true;
    }
    return false;
}

bool definition_check_table(struct mysql_conn *c, const struct definitions *d,
                            const struct table_definition *t, struct problems *problems,
                            struct err *err)
{
    struct live l = {.conn = c, .d = d, .arena = arena_new(), .err = err};
    const struct check_source source = {&l, find_live, each_live, try_live, count_live};

    table_visit(t, count_table, &l.cap);
    l.names = arena_alloc(l.arena, l.cap + 1, sizeof(*l.names));
    l.facts = arena_alloc(l.arena, l.cap + 1, sizeof(*l.facts));
    table_visit(t, name_table, &l);
    l.failed = !catalog_load_facts(c, l.names, l.n, l.arena, l.facts, err);
    if (!l.failed) {
        definition_check_facts(d, t, &source, problems);
        table_facts_fini(l.facts, l.n);
    }
    arena_free(l.arena);
    return !l.failed;
}
