#include "config.h"

#include "rebalance/node.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "sync/binlog/transport.h"

#include <stdio.h>
#include <stdlib.h>

#define AGAIN_MS 60000 /* a gap right behind the last one is no gap but something else */

#define REASON                                                                                 \
    "changes of its topic were lost in a gap of the log, over which the index is built again"

/* What the topic stopped with, where that is a gap. */
static bool has_gap(const struct topic *t, struct err *why)
{
    struct pipeline_status s;

    if (t->pipeline == NULL)
        return false;
    pipeline_status(t->pipeline, &s);
    free(s.gtids);
    *why = s.source.why;
    return s.source.state == SOURCE_FAILED && transport_is_gap(transport_reason_of(why));
}

static bool wish(struct coordinator *co, struct str table, struct err *err)
{
    const struct stored_rebuild rebuild = {
        .table = table, .reason = STR(REASON), .at_ms = clock_wall_ms()};

    return store_put_rebuild(co->opt.store, &rebuild, err) && node_refresh(co, err);
}

/* Before the topic begins anew: a daemon that ends in between builds them again all the same. */
static bool wish_all(struct coordinator *co, const struct definitions *d, struct str topic,
                     struct err *err)
{
    struct catalogue *c = node_catalogue(co);
    bool ok = true;

    for (size_t i = 0; ok && i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];

        if (definition_lead(d, t) == t && node_shows_topic(d, t, topic) &&
            (catalogue_version(c, table_index(t), STR("available")) != NULL ||
             catalogue_version(c, table_index(t), STR("changing")) != NULL))
            ok = wish(co, table_name(t), err);
    }
    node_catalogue_free(c);
    return ok;
}

static void close_gap(struct coordinator *co, const struct definitions *d, struct topic *t,
                      const struct err *why)
{
    const struct str name = str_from(t->name);
    struct err err = {0};
    uint64_t n = 0;

    t->gap_ms = clock_mono_ms();
    log_failure(LOG_ERROR, why, "the topic begins anew and its tables are built again",
                KV("topic", (const char *)t->name));
    if (!wish_all(co, d, name, &err) || !node_reset_topic(co, d, name, REASON, &n, &err))
        log_failure(LOG_ERROR, &err, "the topic cannot begin anew yet",
                    KV("topic", (const char *)t->name));
    node_sync_topics(co);
}

void node_close_gaps(struct coordinator *co)
{
    struct definitions *d = node_definitions(co);

    for (struct topic *t = co->topics; t != NULL; t = t->next) {
        const struct topic_definition *of = definitions_topic(d, str_from(t->name));
        struct err why;

        if (of != NULL && of->on_gap == ON_GAP_REBUILD &&
            (t->gap_ms == 0 || clock_mono_ms() - t->gap_ms > AGAIN_MS) && has_gap(t, &why))
            close_gap(co, d, t, &why);
    }
    definitions_unref(d);
}
