#include "config.h"

#include "rebalance/topic/topics.h"

#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/state/pauses.h"
#include "rebalance/topic/take_over.h"
#include "rebalance/topic/told.h"
#include "rebalance/version/build.h"
#include "rebalance/version/rebuild.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/shape.h"
#include "rebalance/version/trees.h"

#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/position/position.h"
#include "sync/server/server_access.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROUTE_MS 5000

/* ---- epochs ---- */

/*
 * The highest epoch that any index of this topic was written under, from the _meta of its
 * mapping.
 */
static bool epoch_in_engine(struct coordinator *co, struct str topic, uint64_t *epoch,
                            struct err *err)
{
    struct buf answer = {0};
    struct json_reader r;
    struct str index, member;
    int status;

    *epoch = 0;
    if (!search_request(co->opt.search, "GET", STR("/_mapping?filter_path=*.mappings._meta"),
                        STR(""), &status, &answer, err)) {
        buf_free(&answer);
        return false;
    }
    if (status != 200 && status != 404) {
        buf_free(&answer);
        return err_set_code(
            err, ERR_RETRY, "http", status,
            "the search engine answered %d when asked for the lineage of its indexes", status);
    }
    json_reader_init(&r, buf_str(&answer));
    if (status == 200 && json_enter_object(&r)) {
        while (json_next_member(&r, &index)) {
            struct buf of = {0};
            uint64_t found;

            if (!json_read_raw(&r, &member))
                break;
            if (json_find_text(member, "/mappings/_meta/_millrace/topic", &of) &&
                str_equal(buf_str(&of), topic) &&
                json_find_u64(member, "/mappings/_meta/_millrace/epoch", &found) &&
                found > *epoch)
                *epoch = found;
            buf_free(&of);
        }
    }
    buf_free(&answer);
    return true;
}

/* ---- starting and stopping ---- */

bool coordinator_new_epoch(struct coordinator *co, struct str topic, uint64_t *epoch,
                           struct err *err)
{
    struct buf name = {0}, value = {0};
    uint64_t kept = 0;
    bool found = false;

    buf_printf(&name, "epoch/%" STR_FMT, STR_ARG(topic));

    bool ok = store_get_value(co->opt.store, buf_str(&name), &value, &found, err) &&
              epoch_in_engine(co, topic, epoch, err);

    if (ok && found)
        kept = strtoull(value.ptr, NULL, 10);
    *epoch = (kept > *epoch ? kept : *epoch) + 1;
    if (ok && *epoch > POSITION_EPOCH_MAX)
        ok = err_set(err, ERR_FATAL,
                     "topic %" STR_FMT " has no epochs left; fix: give the topic another name "
                     "and rebuild its indexes",
                     STR_ARG(topic));
    buf_clear(&value);
    buf_printf(&value, "%" PRIu64, *epoch);
    ok = ok && store_put_value(co->opt.store, buf_str(&name), buf_str(&value), err);
    FAILPOINT(epoch_stored);
    buf_free(&name);
    buf_free(&value);
    return ok;
}

static bool choose_epoch(struct coordinator *co, struct str topic, uint64_t *epoch,
                         struct err *err)
{
    struct arena *a = arena_new();
    struct stored_checkpoint cp;
    bool found = false;
    bool ok = store_load_checkpoint(co->opt.store, a, topic, &cp, &found, err);

    if (ok && found)
        *epoch = cp.epoch;
    else
        ok = ok && coordinator_new_epoch(co, topic, epoch, err);
    arena_free(a);
    return ok;
}

/* Where to start without a position: a reset's "now" wins over the definition. */
static bool choose_start(struct coordinator *co, const struct topic_definition *d,
                         struct buf *start, struct err *err)
{
    struct buf name = {0};
    bool found = false;

    buf_printf(&name, "start/%" STR_FMT, STR_ARG(d->name));

    const bool ok = store_get_value(co->opt.store, buf_str(&name), start, &found, err);

    if (ok && !found)
        buf_append(start, d->start);
    buf_free(&name);
    return ok;
}

/* Undo the preparation of a pipeline that was not started. */
static void take_back(struct coordinator *co, struct topic *t)
{
    lock_acquire(&co->topics->lock);

    struct pipeline *p = t->pipeline;

    t->pipeline = NULL;
    lock_release(&co->topics->lock);
    pipeline_unref(p);
}

/* Shows the pipeline to others and starts it, or frees it. */
static bool begin(struct coordinator *co, struct topic *t, struct pipeline *p,
                  uint32_t server_id, struct err *err)
{
    uint64_t from;

    lock_acquire(&co->topics->lock);
    t->pipeline = p;
    t->server_id = server_id;
    t->why = t->move_why = (struct err){0};
    lock_release(&co->topics->lock);
    /* Before it starts, so that no change is read without its versions and their trees. */
    if (co->trees != NULL)
        coordinator_follow_trees(co, str_from(t->name), t->term);
    if (!coordinator_route(co, str_from(t->name), ROUTE_MS, &from, err)) {
        take_back(co, t);
        return false;
    }
    pipeline_start(p);
    t->term_is_fresh = false;
    stop_nudge(&co->stop);
    return true;
}

static bool start_pipeline(struct coordinator *co, struct topic *t,
                           const struct topic_definition *d, struct err *err)
    NEEDS(co->admin_lock)
{
    struct server_access *server = NULL;
    struct buf start = {0}, spill = {0}, zone = {0};
    struct replica_identity replica;
    uint64_t epoch;
    struct pipeline *p = NULL;

    buf_printf(&spill, "%s/spill", co->opt.data_dir);
    buf_append(&zone, topic_day_zone(d));

    bool ok = coordinator_own_topic(co, t, err) &&
              server_access_new(&server, d, NULL, co->opt.data_dir, err) &&
              choose_start(co, d, &start, err) && choose_epoch(co, d->name, &epoch, err) &&
              coordinator_replica_identity(co, d, &replica, err) &&
              pipeline_new(&p,
                           &(struct pipeline_options){
                               .topic = t->name,
                               .start_at = start.ptr,
                               .server = server,
                               .server_id = replica.server_id,
                               .uuid = replica.uuid,
                               .day_zone = zone.ptr,
                               .epoch = epoch,
                               .term = t->term,
                               .is_shared = co->opt.is_shared,
                               .event_max = co->opt.event_max,
                               .spill_folder = spill.ptr,
                               .read_window_ms = delivery_get(co->delivery).read_window_ms,
                               .loads = delivery_get(co->delivery).loads_max,
                               .fan_out_share = delivery_get(co->delivery).fan_out_share,
                               .store = co->opt.store,
                               .delivery = co->delivery,
                               .search = co->opt.search,
                               .registry = co->topics->registry,
                               .ctx = co,
                               .stop_table = coordinator_on_stop_table,
                               .put_off_table = coordinator_on_put_off_table,
                               .dead = coordinator_on_dead_row,
                               .fit = coordinator_fit_version,
                               .kept = coordinator_kept_tables,
                               .tables_changed = coordinator_on_tables_changed,
                               .mark = coordinator_on_mark,
                               .saves = coordinator_flush_trees},
                           err);

    if (ok)
        ok = begin(co, t, p, replica.server_id, err);
    server_access_unref(server);
    buf_free(&start);
    buf_free(&spill);
    buf_free(&zone);
    return ok;
}

static void try_start(struct coordinator *co, struct topic *t, const struct topic_definition *d)
    NEEDS(co->admin_lock)
{
    struct err err = {0};

    if (start_pipeline(co, t, d, &err))
        return;
    lock_acquire(&co->topics->lock);

    const bool again = t->why.kind == ERR_NONE || t->why.kind == ERR_STOP;

    t->why = err;
    lock_release(&co->topics->lock);
    if (again)
        log_failure(LOG_ERROR, &err, "the topic cannot start",
                    KV("topic", (const char *)t->name));
}

void coordinator_stop_topic(struct coordinator *co, struct topic *t)
{
    if (t->pipeline != NULL)
        coordinator_pause_builds(co, t->pipeline);
    lock_acquire(&co->topics->lock);

    struct pipeline *p = t->pipeline;

    t->pipeline = NULL;
    lock_release(&co->topics->lock);
    if (p == NULL)
        return;
    pipeline_discard(p);
    pipeline_quiesce(p);
    pipeline_forget(p);
    pipeline_join(p);
    pipeline_unref(p);
}

static void remove_topics(struct coordinator *co, const struct definitions *d)
    NEEDS(co->admin_lock)
{
    for (struct topic **at = &co->topics->first; *at != NULL;) {
        struct topic *t = *at;

        if (definitions_topic(d, str_from(t->name)) != NULL) {
            at = &t->next;
            continue;
        }
        coordinator_stop_topic(co, t);
        lock_acquire(&co->topics->lock);
        *at = t->next;
        lock_release(&co->topics->lock);
        topic_free(t);
    }
}

static void add_topics(struct coordinator *co, const struct definitions *d)
    NEEDS(co->admin_lock)
{
    for (size_t i = 0; i < d->n_topics; i++) {
        const struct str name = d->topics[i].name;
        struct topic *t;

        if (topics_find(co->topics, name) != NULL)
            continue;
        t = mem_alloc(1, sizeof(*t));
        t->name = strndup(name.ptr, name.len);
        t->needs_take_over = co->opt.is_shared;
        lock_acquire(&co->topics->lock);
        t->next = co->topics->first;
        co->topics->first = t;
        lock_release(&co->topics->lock);
    }
}

void coordinator_sync_topics(struct coordinator *co)
{
    struct definitions *d = coordinator_definitions(co);
    struct catalogue *c = coordinator_catalogue(co);

    remove_topics(co, d);
    add_topics(co, d);
    if (co->opt.is_shared) /* the cluster waits for all terms, and a start may take long */
        coordinator_own_idle(co, c);
    for (size_t i = 0; i < d->n_topics; i++) {
        struct topic *t = topics_find(co->topics, d->topics[i].name);

        if (catalogue_pause(c, PAUSE_TOPIC, d->topics[i].name) != NULL)
            coordinator_stop_topic(co, t);
        else if (t->pipeline == NULL && !stop_is_set(&co->stop) &&
                 coordinator_shall_own(co, str_from(t->name)))
            try_start(co, t, &d->topics[i]);
    }
    coordinator_own_idle(co, c);
    catalogue_unref(c);
    definitions_unref(d);
}
