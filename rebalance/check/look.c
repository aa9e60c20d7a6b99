#include "config.h"

#include "rebalance/check/look.h"

#include "rebalance/state/parts.h"
#include "rebalance/watch/asking.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/server/schemas.h"
#include "sync/server/server_access.h"

#include <stdlib.h>

void look_close(struct look *l)
{
    for (size_t i = 0; i < l->n; i++) {
        schemas_free(l->schemas[i]);
        asking_close(l->asking, l->conns[i]);
        server_access_unref(l->servers[i]);
    }
    free(l->topics);
    free(l->databases);
    free(l->servers);
    free(l->conns);
    free(l->schemas);
    *l = (struct look){0};
}

static size_t number_of(const struct look *l, struct str topic)
{
    size_t i = 0;

    while (i < l->n && !str_equal(l->topics[i], topic))
        i++;
    return i;
}

struct schema_finder {
    struct look *look;
    const struct definitions *d;
};

static void add_topic(struct look *l, const struct topic_definition *topic,
                      const struct database_definition *database)
{
    if (topic == NULL || number_of(l, topic->name) < l->n)
        return;
    l->topics = mem_resize(l->topics, l->n + 1, sizeof(*l->topics));
    l->servers = mem_resize(l->servers, l->n + 1, sizeof(struct server_access *));
    l->conns = mem_resize(l->conns, l->n + 1, sizeof(struct mysql_conn *));
    l->schemas = mem_resize(l->schemas, l->n + 1, sizeof(struct schemas *));
    l->databases = mem_resize(l->databases, l->n + 1, sizeof(struct database_definition *));
    l->topics[l->n] = topic->name;
    l->databases[l->n] = database;
    l->servers[l->n] = NULL;
    l->conns[l->n] = NULL;
    l->schemas[l->n++] = schemas_new(topic->name);
}

static void add_topic_of(void *ctx, struct str table)
{
    struct schema_finder *g = ctx;
    struct str database, name;

    add_topic(g->look, definitions_topic_of(g->d, table),
              definition_split_table(table, &database, &name)
                  ? definitions_database(g->d, database)
                  : NULL);
}

/*
 * Add the topics of all tables that share the index; of a pattern, those of its own definition.
 */
static void add_topics(struct schema_finder *g, const struct table_definition *t)
{
    const struct table_definition *lead = definition_lead(g->d, t), **members;
    struct arena *a = arena_new();
    size_t n;

    if (t->pattern.len > 0)
        add_topic(g->look, definition_topic(g->d, t), NULL);
    if (t->pattern.len > 0 || !definition_members(g->d, lead, NULL, NULL, a, &members, &n))
        table_visit(t, add_topic_of, g);
    else
        for (size_t i = 0; i < n; i++)
            table_visit(members[i], add_topic_of, g);
    arena_free(a);
}

static bool open_one(struct look *l, size_t i, struct coordinator *co,
                     const struct definitions *d, struct err *err)
{
    const struct topic_definition *topic = definitions_topic(d, l->topics[i]);

    if (!server_access_new(&l->servers[i], topic, l->databases[i], co->opt.data_dir, err))
        return false;
    if (l->servers[i]->replica) { /* may lag behind in DDL */
        server_access_unref(l->servers[i]);
        l->servers[i] = NULL;
    }
    if ((l->servers[i] == NULL &&
         !server_access_new(&l->servers[i], topic, NULL, co->opt.data_dir, err)) ||
        !asking_open(l->asking, &l->servers[i]->options, &l->conns[i], err))
        return i == 0 ? false : err_wrap(err, "topic %" STR_FMT, STR_ARG(topic->name));
    schemas_use(l->schemas[i], l->conns[i]);
    return true;
}

bool look_open(struct look *l, struct coordinator *co, const struct definitions *d,
               const struct table_definition *t, struct err *err)
{
    struct schema_finder g = {l, d};

    *l = (struct look){.asking = l->asking};
    if (definition_topic(d, t) == NULL)
        return refuse(err, 422, "table %" STR_FMT " has no topic", STR_ARG(table_name(t)));
    add_topics(&g, t);
    for (size_t i = 0; i < l->n; i++)
        if (!open_one(l, i, co, d, err))
            return false;
    return true;
}

struct schema *look_find(void *ctx, struct str topic, struct str database, struct str table)
{
    const struct look *l = ctx;
    const size_t i = number_of(l, topic);

    return i == l->n ? NULL : schemas_find(l->schemas[i], topic, database, table);
}

bool look_list(void *ctx, struct str topic, struct str schema, struct arena *a,
               struct str **out, size_t *n)
{
    const struct look *l = ctx;
    const size_t i = number_of(l, topic);

    return i < l->n && schemas_list(l->schemas[i], topic, schema, a, out, n);
}

const struct err *look_failed(const struct look *l)
{
    size_t i = 0;

    while (i + 1 < l->n && schemas_failed(l->schemas[i])->kind == ERR_NONE)
        i++;
    return schemas_failed(l->schemas[i]);
}

void look_remember(struct look *l, const struct schema_list *before)
{
    for (size_t i = 0; i < l->n; i++)
        schemas_remember(l->schemas[i], before, NULL);
}

const struct err *look_denied(const struct look *l)
{
    size_t i = 0;

    while (i + 1 < l->n && schemas_denied(l->schemas[i])->kind == ERR_NONE)
        i++;
    return schemas_denied(l->schemas[i]);
}

struct mysql_conn **look_conns(const struct look *l, const struct plan *p)
{
    struct mysql_conn **conns = mem_alloc(plan_n_topics(p), sizeof(struct mysql_conn *));

    for (size_t i = 0; i < plan_n_topics(p); i++)
        conns[i] = l->conns[number_of(l, plan_topic(p, i))];
    return conns;
}
