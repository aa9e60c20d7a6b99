#include "config.h"

#include "rebalance/view/look.h"

#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/view/glance.h"
#include "rebalance/view/topic.h"
#include "rebalance/watch/findings.h"
#include "src/base/clock.h"
#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The topics to look at; NULL: those of this node. */
struct topics_wanted {
    const struct str *topics;
    size_t n;
};

static bool is_others(struct coordinator *co, const struct topics_wanted *at, struct str topic)
{
    if (at == NULL)
        return coordinator_is_shared(co) && !coordinator_owns(co, topic);
    for (size_t i = 0; i < at->n; i++)
        if (str_equal(at->topics[i], topic))
            return false;
    return true;
}

static void look_at_all(struct coordinator *co, struct coordinator_view *v,
                        const struct topics_wanted *at) NEEDS(co->topics->lock)
{
    for (size_t i = 0; i < v->definitions->n_topics; i++) {
        struct topic_view *t = &v->topics[i];

        t->d = &v->definitions->topics[i];
        t->lag = (struct lag){.since_ms = LAG_UNKNOWN};
        t->told.is_others = is_others(co, at, t->d->name);
        if (!t->told.is_others)
            coordinator_look_at_topic(co, v, t);
    }
    for (size_t i = 0; i < v->definitions->n_tables; i++) {
        v->tables[i].d = &v->definitions->tables[i];
        coordinator_look_at_table(co, v, &v->tables[i]);
    }
}

/* NULL if there is no such topic. */
static struct topic_view *find_topic(const struct coordinator_view *v, struct str name)
{
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        if (str_equal(v->topics[i].d->name, name))
            return &v->topics[i];
    return NULL;
}

/* A table's lag includes its topic's log, and a topic's lag includes its tables' own. */
static void join_lags(struct coordinator_view *v)
{
    struct lag *logs = arena_alloc(v->arena, v->definitions->n_topics + 1, sizeof(*logs));

    for (size_t i = 0; i < v->definitions->n_topics; i++)
        logs[i] = v->topics[i].lag;
    for (size_t i = 0; i < v->definitions->n_tables; i++) {
        struct table_view *t = &v->tables[i];
        struct topic_view *topic = find_topic(v, t->topic);

        if (t->told.is_others) {
            t->lag = (struct lag){.since_ms = LAG_UNKNOWN};
            continue;
        }
        t->lag = lag_worse(t->lag, t->own);
        if (topic == NULL)
            continue;
        t->lag = lag_worse(t->lag, logs[topic - v->topics]);

        const struct lag worse = lag_worse(topic->lag, t->own);

        if (worse.since_ms != topic->lag.since_ms)
            topic->lag_of = table_name(t->d);
        topic->lag = worse;
    }
}

static struct coordinator_view *make(struct coordinator *co, const struct topics_wanted *at,
                                     bool is_glance)
{
    struct coordinator_view *v = mem_alloc(1, sizeof(*v));

    v->arena = arena_new();
    v->definitions = coordinator_definitions(co);
    v->catalogue = coordinator_catalogue(co);
    v->now_ms = clock_wall_ms();
    v->is_glance = is_glance;
    v->store = store_watch_heard(co->store_watch);
    v->verify_within_ms = co->opt.verify_within_ms;
    memcpy(v->expect_ms, co->opt.expect_ms, sizeof(v->expect_ms));
    if (!is_glance && coordinator_is_shared(co) && co->delivery != NULL) {
        v->cluster = arena_alloc(v->arena, 1, sizeof(*v->cluster));
        cluster_look(co->cluster, v->cluster);
    }
    v->topics = arena_alloc(v->arena, v->definitions->n_topics + 1, sizeof(*v->topics));
    v->tables = arena_alloc(v->arena, v->definitions->n_tables + 1, sizeof(*v->tables));
    v->findings = findings_all(co->findings, v->arena, &v->n_findings);
    lock_acquire(&co->topics->lock);
    look_at_all(co, v, at);
    lock_release(&co->topics->lock);
    if (!is_glance) {
        coordinator_look_at_kept(co, v);
        coordinator_look_at_waits(v);
        coordinator_look_at_told(co, v, at == NULL);
    }
    join_lags(v);
    return v;
}

struct coordinator_view *coordinator_view_new(struct coordinator *co)
{
    return make(co, NULL, false);
}

struct coordinator_view *coordinator_view_glance(struct coordinator *co)
{
    return make(co, NULL, true);
}

struct coordinator_view *coordinator_view_of(struct coordinator *co, const struct str *topics,
                                             size_t n)
{
    return make(co, &(struct topics_wanted){topics, n}, false);
}

void coordinator_view_free(struct coordinator_view *v)
{
    if (v->cluster != NULL)
        cluster_view_free(v->cluster);
    store_copy_unref(v->stored);
    definitions_unref(v->definitions);
    catalogue_unref(v->catalogue);
    arena_free(v->arena);
    free(v);
}

void coordinator_put_lag(struct json_writer *w, struct lag lag, int64_t now_ms)
{
    const double s = lag_seconds(lag, now_ms);

    if (s < 0)
        json_put_null(w, STR("lag_seconds"));
    else
        json_put_double(w, STR("lag_seconds"), s);
    json_put_bool(w, STR("lag_at_most"), lag.at_most);
    coordinator_put_time(w, STR("oldest"), s > 0 ? lag.since_ms : 0);
}
