#include "config.h"

#include "sync/draft/survey.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/mysql.h"

#define NAMES_MAX 100000 /* tables and views of a schema */

static bool use_schema(struct mysql_conn *c, struct str schema, struct err *err)
{
    struct buf sql = {0};

    buf_append(&sql, STR("USE "));
    mysql_quote_name(&sql, schema);

    const bool fine = mysql_conn_exec(c, buf_str(&sql), err);

    buf_free(&sql);
    return fine;
}

/* Both lists are in the server's order; views are what only the first one has. */
static void set_views(struct survey *s, struct arena *a, const struct str *all, size_t n_all)
{
    s->views = arena_alloc(a, n_all + 1, sizeof(*s->views));
    for (size_t i = 0, t = 0; i < n_all; i++)
        if (t < s->n_tables && str_equal(all[i], s->tables[t].name))
            t++;
        else
            s->views[s->n_views++] = all[i];
}

static void mark_denied(struct survey *s, const struct str *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t at = survey_find(s, names[i]);

        if (at < s->n_tables)
            s->tables[at].is_denied = true;
    }
}

/* Make one list of the foreign keys of each table. */
static void set_keys(struct survey *s, struct arena *a, const struct foreign_keys *of)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_tables; i++)
        n += of[i].n;
    s->keys = arena_alloc(a, n + 1, sizeof(*s->keys));
    for (size_t i = 0; i < s->n_tables; i++)
        for (size_t k = 0; k < of[i].n; k++)
            s->keys[s->n_keys++] = of[i].keys[k];
}

static bool load_facts(struct mysql_conn *c, struct survey *s, struct arena *a,
                       const struct str *tables, struct err *err)
{
    const size_t n = s->n_tables;
    struct catalog_name *names = arena_alloc(a, n + 1, sizeof(*names));
    struct foreign_keys *of = arena_alloc(a, n + 1, sizeof(*of));

    s->tables = arena_alloc(a, n + 1, sizeof(*s->tables));
    s->facts = arena_alloc(a, n + 1, sizeof(*s->facts));
    for (size_t i = 0; i < n; i++) {
        names[i] = (struct catalog_name){s->schema, tables[i]};
        s->tables[i] = (struct survey_table){.name = tables[i], .facts = &s->facts[i]};
    }
    if (!catalog_load_facts(c, names, n, a, s->facts, err) ||
        !foreign_keys_load(c, names, n, a, of, err))
        return false;
    set_keys(s, a, of);
    return true;
}

bool survey_load(struct mysql_conn *c, struct str schema, struct arena *a, struct survey *out,
                 struct err *err)
{
    struct str *tables, *all, *denied;
    size_t n_all, n_denied;

    *out = (struct survey){.schema = schema};
    if (!use_schema(c, schema, err) ||
        !catalog_list_base_tables(c, schema, a, &tables, &out->n_tables, err) ||
        !load_facts(c, out, a, tables, err) ||
        !catalog_list_tables(c, schema, NAMES_MAX, a, &all, &n_all, err) ||
        !catalog_list_unreadable(c, schema, a, &denied, &n_denied, err))
        return false;
    set_views(out, a, all, n_all);
    mark_denied(out, denied, n_denied);
    return true;
}

void survey_fini(struct survey *s)
{
    if (s->facts != NULL)
        table_facts_fini(s->facts, s->n_tables);
}

size_t survey_find(const struct survey *s, struct str table)
{
    size_t i = 0;

    while (i < s->n_tables && !str_equal(s->tables[i].name, table))
        i++;
    return i;
}

bool survey_is_usable(const struct survey_table *t)
{
    return t->facts->schema != NULL && !t->is_denied;
}
