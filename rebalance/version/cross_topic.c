#include "config.h"

#include "rebalance/version/cross_topic.h"

#include "rebalance/state/parts.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/table_stop.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "sync/routing/routing.h"

#include <stdlib.h>
#include <string.h>

#define AWAY_MS 30000 /* documents that cannot be read may fill half of the queue so long */

/* Search for another topic with tables of the same documents that is not followed now. */
struct search_away {
    const struct coordinator *co;
    const struct definitions *d;
    struct str own;
    struct topic *found; /* NULL: none */
};

static bool is_up(const struct topic *t)
{
    struct pipeline_status s;

    if (t->pipeline == NULL)
        return false;
    pipeline_status(t->pipeline, &s);
    free(s.gtids);
    return s.source.state == SOURCE_RUNNING;
}

static void look(void *ctx, struct str table)
{
    struct search_away *s = ctx;
    const struct topic_definition *topic = definitions_topic_of(s->d, table);
    struct topic *t;

    if (s->found != NULL || topic == NULL || str_equal(topic->name, s->own))
        return;
    t = topics_find(s->co->topics, topic->name);
    if (t != NULL && !is_up(t))
        s->found = t;
}

static struct topic *find_away(const struct coordinator *co, const struct definitions *d,
                               const struct table_definition *t)
{
    const struct topic_definition *own = definition_topic(d, t);
    struct search_away s = {co, d, own == NULL ? STR("") : own->name, NULL};

    table_visit(t, look, &s);
    return s.found;
}

static bool is_denied(const struct coordinator *co, const struct topic_definition *topic,
                      struct str index, struct err *why)
{
    const struct topic *t = topic == NULL ? NULL : topics_find(co->topics, topic->name);

    return t != NULL && t->pipeline != NULL && pipeline_is_denied(t->pipeline, index, why);
}

void coordinator_append_unread(const struct coordinator *co, const struct definitions *d,
                               const struct table_definition *t, struct str index,
                               struct buf *reason)
{
    const struct topic *away = find_away(co, d, t);
    struct err why;

    if (away != NULL)
        buf_printf(reason,
                   "changed documents wait for topic %s, which has some of their tables and "
                   "is not running now",
                   away->name);
    else if (is_denied(co, definition_topic(d, t), index, &why))
        buf_append(reason, str_from(why.msg));
}

/* ---- rights ---- */

void coordinator_look_at_rights(struct coordinator *co)
{
    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        const struct topic *t = topics_find(co->topics, v->topic);
        struct buf index = {0};

        coordinator_index_name(&index, v->index, v->number);
        if (catalogue_is_live(v) && t != NULL && t->pipeline != NULL &&
            pipeline_is_denied_tables(t->pipeline, buf_str(&index)))
            pipeline_renew(t->pipeline);
        buf_free(&index);
    }
    catalogue_unref(c);
}

/* ---- relieving the queue ---- */

static void stop(struct coordinator *co, const struct stored_version *v,
                 const struct table_definition *t, struct str reason)
{
    struct topic *topic = topics_find(co->topics, v->topic);
    struct buf index = {0}, fix = {0};
    struct err err = {0};

    coordinator_index_name(&index, v->index, v->number);

    struct target *target = topic == NULL || topic->pipeline == NULL
                                ? NULL
                                : pipeline_target(topic->pipeline, buf_str(&index), STR(""));

    if (target != NULL &&
        !__atomic_load_n(&((struct reading *)target->plan)->stopped, __ATOMIC_RELAXED)) {
        buf_append(&fix, STR("millrace index create "));
        buf_append_word(&fix, table_name(t));
        /* Store the stop first: deferred changes let the checkpoint pass. */
        if (coordinator_stop_target(co, target, &(struct table_stop){reason.ptr, fix.ptr, true},
                                    &err)) {
            __atomic_store_n(&((struct reading *)target->plan)->stopped, true,
                             __ATOMIC_RELAXED);
            delivery_drop(co->delivery, buf_str(&index));
            coordinator_route_soon(co);
        } else {
            log_failure(LOG_ERROR, &err, "could not stop a table that blocks others");
        }
    }
    target_unref(target);
    buf_free(&index);
    buf_free(&fix);
}

static void stop_all(struct coordinator *co)
{
    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        struct definitions *d = NULL;
        const struct table_definition *t;
        struct err ignored = {0};
        struct buf reason = {0}, index = {0};

        if (!catalogue_is_live(v) || !coordinator_version_definitions(co, v, &d, &t, &ignored))
            continue;
        coordinator_index_name(&index, v->index, v->number);
        coordinator_append_unread(co, d, t, buf_str(&index), &reason);
        if (reason.len > 0)
            stop(co, v, t, buf_str(&reason));
        buf_free(&reason);
        buf_free(&index);
        definitions_unref(d);
    }
    catalogue_unref(c);
}

void coordinator_stop_unread(struct coordinator *co)
{
    const int64_t now_ms = clock_mono_ms();

    if (co->queue.full_since_ms == 0 || now_ms - co->queue.full_since_ms < AWAY_MS)
        return;
    co->queue.full_since_ms = now_ms;
    stop_all(co);
}
