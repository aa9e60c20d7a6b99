#include "config.h"

#include "rebalance/topic/reset.h"

#include "rebalance/state/parts.h"
#include "rebalance/topic/orders.h"
#include "rebalance/topic/topics.h"
#include "rebalance/version/build.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/table_stop.h"
#include "rebalance/version/version_drop.h"

#include "src/base/arena.h"
#include "src/store/reset.h"

#include "src/base/clock.h"
#include "src/base/log.h"

#include <inttypes.h>

#define REASON "its topic was reset to the server's present position, so changes were lost"

static void answer(struct buf *json, const char *schema, struct str topic, uint64_t n,
                   bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_string(&w, STR("topic"), topic);
    json_put_u64(&w, STR("tables"), n);
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

/* What the reset stores; the arena owns it. */
struct resetting {
    struct arena *arena;
    struct topic_reset reset;
    struct stored_stop *stops;
    struct stored_rebuild *rebuilds;
    struct version_name *builds, *kept;
};

static void add_table(struct resetting *r, const struct reset_wish *wish,
                      const struct table_definition *t, bool is_searched)
{
    struct buf fix = {0};

    buf_append(&fix, STR("millrace index create "));
    buf_append_word(&fix, table_name(t));
    if (is_searched)
        r->stops[r->reset.n_stops++] =
            (struct stored_stop){.table = table_name(t),
                                 .reason = str_from(wish->reason),
                                 .way_out = arena_copy(r->arena, buf_str(&fix)),
                                 .file = STR(""),
                                 .at_ms = clock_wall_ms()};
    if (wish->again)
        r->rebuilds[r->reset.n_rebuilds++] =
            (struct stored_rebuild){table_name(t), str_from(wish->reason), clock_wall_ms()};
    buf_free(&fix);
}

/* Stop every version that searches use: from here on it misses changes, until it is rebuilt. */
static void gather_tables(struct resetting *r, const struct definitions *d,
                          const struct catalogue *c, const struct reset_wish *wish)
{
    r->stops = arena_alloc(r->arena, d->n_tables + 1, sizeof(*r->stops));
    r->rebuilds = arena_alloc(r->arena, d->n_tables + 1, sizeof(*r->rebuilds));
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];
        const bool is_searched = catalogue_version(c, table_index(t), STR("available")) != NULL;

        if (definition_lead(d, t) == t && coordinator_shows_topic(d, t, wish->topic) &&
            (is_searched || catalogue_coming(c, table_index(t)) != NULL))
            add_table(r, wish, t, is_searched);
    }
}

static bool is_of(const struct definitions *d, const struct stored_version *v, struct str topic)
{
    const struct table_definition *lead = definition_lead_of(d, v->index);

    return str_equal(v->topic, topic) ||
           (lead != NULL && coordinator_shows_topic(d, lead, topic));
}

static bool is_built_of(const struct definitions *d, const struct stored_version *v,
                        struct str topic)
{
    return catalogue_is_coming(v) && is_of(d, v, topic);
}

static void gather_builds(struct resetting *r, const struct definitions *d,
                          const struct catalogue *c, struct str topic)
{
    r->builds = arena_alloc(r->arena, c->n_versions + 1, sizeof(*r->builds));
    for (size_t i = 0; i < c->n_versions; i++)
        if (is_built_of(d, &c->versions[i], topic))
            r->builds[r->reset.n_builds++] =
                (struct version_name){c->versions[i].index, c->versions[i].number};
}

static void gather_kept(struct resetting *r, const struct definitions *d,
                        const struct catalogue *c, struct str topic)
{
    r->kept = arena_alloc(r->arena, c->n_versions + 1, sizeof(*r->kept));
    for (size_t i = 0; i < c->n_versions; i++)
        if (catalogue_is_kept(&c->versions[i]) && is_of(d, &c->versions[i], topic))
            r->kept[r->reset.n_kept++] =
                (struct version_name){c->versions[i].index, c->versions[i].number};
}

/* Stop the topic and its builds.  If the store then fails, they resume automatically. */
static bool end_builds(struct coordinator *co, const struct definitions *d, struct str topic,
                       struct err *err) NEEDS(co->admin_lock)
{
    struct catalogue *c = coordinator_catalogue(co);
    struct topic *t = topics_find(co->topics, topic);

    if (t != NULL)
        coordinator_stop_topic(co, t);
    for (size_t i = 0; i < c->n_versions; i++)
        if (is_built_of(d, &c->versions[i], topic))
            coordinator_end_build(co, c->versions[i].index, c->versions[i].number);
    catalogue_unref(c);
    return coordinator_refresh(co, err);
}

static bool put_into_effect(struct coordinator *co, const struct resetting *r, struct err *err)
{
    bool ok = coordinator_refresh(co, err);

    for (size_t i = 0; i < r->reset.n_stops; i++)
        ok = coordinator_tell_stop(co, &r->stops[i], err) && ok;
    for (size_t i = 0; co->delivery != NULL && i < r->reset.n_builds; i++) {
        struct buf index = {0};

        coordinator_index_name(&index, r->builds[i].index, r->builds[i].number);
        delivery_drop(co->delivery, buf_str(&index));
        buf_free(&index);
    }
    coordinator_route_soon(co); /* tables of other topics may be affected */
    coordinator_end_drops_soon(co);
    return ok;
}

static bool store(struct coordinator *co, struct resetting *r, struct str topic,
                  struct err *err)
{
    struct buf start = {0};

    buf_printf(&start, "start/%" STR_FMT, STR_ARG(topic));
    r->reset.topic = topic;
    r->reset.stops = r->stops;
    r->reset.rebuilds = r->rebuilds;
    r->reset.builds = r->builds;
    r->reset.kept = r->kept;
    r->reset.at_ms = clock_steady_ms();
    r->reset.start = (struct stored_value){buf_str(&start), STR("now")};

    const bool ok = store_reset_topic(co->opt.store, &r->reset, err);

    buf_free(&start);
    return ok;
}

bool coordinator_reset_topic(struct coordinator *co, const struct definitions *d,
                             const struct reset_wish *wish, uint64_t *n, struct err *err)
{
    struct resetting r = {.arena = arena_new()};
    bool ok = coordinator_refresh(co, err);

    ok = ok && end_builds(co, d, wish->topic, err);
    if (ok) {
        struct catalogue *c = coordinator_catalogue(co);

        gather_tables(&r, d, c, wish);
        gather_kept(&r, d, c, wish->topic);
        gather_builds(&r, d, c, wish->topic);
        *n = r.reset.n_stops;
        ok = store(co, &r, wish->topic, err) && put_into_effect(co, &r, err);
        catalogue_unref(c);
    }
    arena_free(r.arena);
    return ok;
}

/* How many tables a reset would stop. */
static bool count_tables(struct coordinator *co, const struct definitions *d,
                         const struct reset_wish *wish, uint64_t *n, struct err *err)
    NEEDS(co->admin_lock)
{
    struct resetting r = {.arena = arena_new()};
    const bool ok = coordinator_refresh(co, err);
    struct catalogue *c = coordinator_catalogue(co);

    gather_tables(&r, d, c, wish);
    *n = r.reset.n_stops;
    catalogue_unref(c);
    arena_free(r.arena);
    return ok;
}

bool coordinator_topic_reset(struct coordinator *co, struct str topic, bool dry_run,
                             struct buf *json, struct err *err)
{
    const struct reset_wish wish = {topic, REASON, false};
    uint64_t n = 0;

    if (!coordinator_begin(co, err))
        return false;

    struct definitions *d = coordinator_definitions(co);
    bool ok =
        definitions_topic(d, topic) != NULL ||
        refuse(err, 404, "there is no topic %" STR_FMT "; millrace topic list shows all topics",
               STR_ARG(topic));

    ok = ok && (dry_run ? count_tables(co, d, &wish, &n, err)
                        : coordinator_reset_topic(co, d, &wish, &n, err));
    if (ok && !dry_run && co->delivery != NULL)
        coordinator_sync_topics(co);
    if (ok)
        answer(json, "millrace/topic-reset/1", topic, n, dry_run);
    definitions_unref(d);
    lock_release(&co->admin_lock);
    return ok;
}
