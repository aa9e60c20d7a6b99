#include "config.h"

#include "rebalance/check/asked.h"

#include "rebalance/watch/asking.h"
#include "src/base/mem.h"
#include "sync/definition/definition.h"
#include "sync/server/schemas.h"
#include "sync/server/server_access.h"

#include <stdlib.h>

/* Returns n_topics if no topic has this name. */
static size_t number_of(const struct asked *a, struct str topic)
{
    const struct topic_definition *t = definitions_topic(a->d, topic);

    return t == NULL ? a->d->n_topics : (size_t)(t - a->d->topics);
}

static void expect(void *ctx, struct str table)
{
    const struct asked *a = ctx;
    struct table_location at;

    if (definitions_locate(a->d, table, &at) && number_of(a, at.topic) < a->d->n_topics)
        schemas_expect(a->schemas[number_of(a, at.topic)], at.schema, at.name);
}

void asked_init(struct asked *a, const struct definitions *d, const char *folder,
                struct asking *asking)
{
    *a = (struct asked){.d = d, .folder = folder, .asking = asking};
    a->conns = mem_alloc(d->n_topics + 1, sizeof(struct mysql_conn *));
    a->schemas = mem_alloc(d->n_topics + 1, sizeof(struct schemas *));
    for (size_t i = 0; i < d->n_topics; i++) {
        a->schemas[i] = schemas_new(d->topics[i].name);
        schemas_set_others(a->schemas[i], asked_find, a);
    }
    for (size_t i = 0; i < d->n_tables; i++)
        table_visit(&d->tables[i], expect, a);
}

void asked_fini(struct asked *a)
{
    for (size_t i = 0; i < a->d->n_topics; i++) {
        schemas_free(a->schemas[i]);
        asking_close(a->asking, a->conns[i]);
    }
    free(a->conns);
    free(a->schemas);
}

struct mysql_conn *asked_open(void *ctx, struct str topic, struct err *err)
{
    struct asked *a = ctx;
    const size_t i = number_of(a, topic);
    struct server_access *server = NULL;

    if (i == a->d->n_topics) {
        err_set(err, ERR_REJECT, "there is no topic %" STR_FMT, STR_ARG(topic));
        return NULL;
    }
    if (a->conns[i] == NULL &&
        server_access_new(&server, &a->d->topics[i], NULL, a->folder, err))
        (void)!asking_open(a->asking, &server->options, &a->conns[i], err);
    server_access_unref(server);
    return a->conns[i];
}

void asked_put(struct asked *a, struct str topic, struct mysql_conn *conn)
{
    const size_t i = number_of(a, topic);

    asking_close(a->asking, a->conns[i]);
    a->conns[i] = conn;
}

struct schemas *asked_schemas(struct asked *a, struct str topic)
{
    const size_t i = number_of(a, topic);
    struct err ignored = {0};
    struct mysql_conn *conn = asked_open(a, topic, &ignored);

    /* A failure concerns only the table that was being read. */
    if (!schemas_uses(a->schemas[i], conn) || schemas_failed(a->schemas[i])->kind != ERR_NONE)
        schemas_use(a->schemas[i], conn);
    return a->schemas[i];
}

struct schema *asked_find(void *ctx, struct str topic, struct str database, struct str table)
{
    struct asked *a = ctx;

    return number_of(a, topic) == a->d->n_topics
               ? NULL
               : schemas_find(asked_schemas(a, topic), topic, database, table);
}

bool asked_list(void *ctx, struct str topic, struct str schema, struct arena *a,
                struct str **out, size_t *n)
{
    struct asked *x = ctx;

    return number_of(x, topic) < x->d->n_topics &&
           schemas_list(asked_schemas(x, topic), topic, schema, a, out, n);
}
