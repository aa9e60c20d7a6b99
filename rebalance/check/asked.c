#include "config.h"

#include "rebalance/check/asked.h"

#include "rebalance/watch/asking.h"
#include "src/base/mem.h"
#include "sync/definition/definition.h"
#include "sync/server/schemas.h"
#include "sync/server/server_access.h"

#include <stdlib.h>

void asked_init(struct asked *a, const struct definitions *d, const char *folder,
                struct asking *asking)
{
    *a = (struct asked){.d = d, .folder = folder, .asking = asking};
    a->conns = mem_alloc(d->n_topics + 1, sizeof(struct mysql_conn *));
    a->schemas = mem_alloc(d->n_topics + 1, sizeof(struct schemas *));
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

/* Returns n_topics if no topic has this name. */
static size_t number_of(const struct asked *a, struct str topic)
{
    const struct topic_definition *t = definitions_topic(a->d, topic);

    return t == NULL ? a->d->n_topics : (size_t)(t - a->d->topics);
}

struct mysql_conn *asked_open(void *ctx, struct str topic, struct err *err)
{
    struct asked *a = ctx;
    const size_t i = number_of(a, topic);
    struct server_access *server = NULL;

    if (i == a->d->n_topics) {
        err_set(err, ERR_REJECT, "there is no such topic");
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

/* NULL if its server cannot be reached. */
static struct schemas *schemas_of(struct asked *a, struct str topic)
{
    struct err ignored = {0};
    struct mysql_conn *conn = asked_open(a, topic, &ignored);

    if (conn == NULL)
        return NULL;

    struct schemas **s = &a->schemas[number_of(a, topic)];

    if (*s == NULL)
        *s = schemas_new(topic);
    schemas_use(*s, conn);
    return *s;
}

struct schema *asked_find(void *ctx, struct str topic, struct str database, struct str table)
{
    struct schemas *s = schemas_of(ctx, topic);

    return s == NULL ? NULL : schemas_find(s, topic, database, table);
}

bool asked_list(void *ctx, struct str topic, struct str schema, struct arena *a,
                struct str **out, size_t *n)
{
    struct schemas *s = schemas_of(ctx, topic);

    return s != NULL && schemas_list(s, topic, schema, a, out, n);
}
