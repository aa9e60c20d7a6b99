#include "config.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/file/zone_file.h"
#include "src/format/zone.h"
#include "src/mysql/group.h"
#include "src/store/later/midnight.h"
#include "sync/checkpoint/midnights.h"
#include "sync/checkpoint/progress.h"
#include "sync/checkpoint/read_position.h"
#include "sync/checkpoint/saver.h"
#include "sync/pipeline/dump_start.h"
#include "sync/pipeline/parts.h"
#include "sync/pipeline/router.h"
#include "sync/pipeline/stream_pause.h"
#include "sync/position/position.h"
#include "sync/read/access_denied.h"
#include "sync/read/source_registry.h"
#include "sync/related/cascade/cascades.h"
#include "sync/related/fan_out/fan_out.h"
#include "sync/routing/routing.h"
#include "sync/routing/wanted_versions.h"
#include "sync/server/known_server.h"
#include "sync/server/server_access.h"
#include "sync/source/handoff.h"

#include <string.h>

#define HANDOFF_BYTES (4 << 20)
#define STAND_MS      10000

/* ---- callbacks of the builder, on its thread ---- */

/* Stop all tables of the index, until the next routing leaves them out. */
static void stop_others(struct pipeline *p, const char *index)
{
    struct routing *r = wanted_versions_routing(p->wanted);

    for (size_t i = 0; r != NULL && i < r->n_targets; i++)
        if (strcmp(r->targets[i]->index, index) == 0)
            __atomic_store_n(&((struct reading *)r->targets[i]->plan)->stopped, true,
                             __ATOMIC_RELAXED);
    routing_unref(r);
}

/* Keep the stopped version out when schemas are read again. */
static void on_stop(void *ctx, struct target *target, const char *reason, const char *way_out)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    wanted_versions_stop(p->wanted, target->index);
    if (!p->opt.stop_table(p->opt.ctx, target, reason, way_out))
        pipeline_discard(p);
    stop_others(p, target->index);
}

static bool on_put_off(void *ctx, const struct table_put_off *what)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);
    bool is;

    if (p->opt.put_off_table(p->opt.ctx, str_from(p->topic), what, &is))
        return is;
    pipeline_discard(p);
    return true;
}

static void on_dead(void *ctx, const struct dead_letter_note *note)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    if (!p->opt.dead(p->opt.ctx, note))
        pipeline_discard(p);
}

/* On any thread. */
static void on_mark(void *ctx, const struct target *target, const char *reason)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    if (!p->opt.mark(p->opt.ctx, target, reason))
        pipeline_discard(p);
}

static bool is_settled(void *ctx)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    return wanted_versions_is_taken(p->wanted);
}

static bool is_at_rest(void *ctx)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    return builder_waits(p->builder) && !stop_is_set(&p->stop) &&
           source_status(p->source).state == SOURCE_RUNNING;
}

static bool on_ddl(void *ctx, const struct ddl *ddl, struct err *err)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    if (!router_on_ddl(p->router, ddl, err))
        return false;
    p->opt.tables_changed(p->opt.ctx);
    return true;
}

static bool fit(void *ctx, const struct version_spec *v, const struct tables_now *now,
                struct err *err)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    return p->opt.fit(p->opt.ctx, v, now, err);
}

static bool kept(void *ctx, const struct version_spec *v, struct schema_list *tables,
                 struct err *err)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    return p->opt.kept(p->opt.ctx, v, tables, err);
}

static void on_denied(void *ctx, const char *index, const struct err *why)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);
    struct err before;

    if (why != NULL && !access_denied_find(p->denied, str_from(index), &before))
        log_failure(LOG_WARN, why,
                    "no right to read table definitions, following the tables "
                    "in their last known shape",
                    KV("topic", p->topic), KV("index", index));
    access_denied_tell(p->denied, index, ACCESS_DENIED_TABLES, why);
}

static bool wait_committed(void *ctx, struct str wait_sql, struct err *err)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    return router_wait_committed(p->router, wait_sql, err);
}

static void on_wait(void *ctx, const struct err *why)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    source_note(p->source, why);
}

static void on_fault(void *ctx, const struct err *why)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    source_fault(p->source,
                 commit_position_version(builder_position(p->builder), p->start.epoch), why);
}

static void on_moved(void *ctx)
{
    const struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    saver_nudge(p->saver);
}

static void on_builder_done(void *ctx)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    router_disconnect(p->router);
    __atomic_store_n(&p->builder_done, true, __ATOMIC_RELEASE);
}

/* ---- callbacks of the source, on the reader thread ---- */

static bool where(void *ctx, struct source_start *out)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    return dump_start_where(p->dump_start, out);
}

/* Another pipeline follows another server, in an epoch of its own. */
static bool recognise(void *ctx, struct mysql_conn *c, const struct server_info *info,
                      struct err *err)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    return server_switch_meet(&p->server_switch, c, info, err);
}

static bool begins(void *ctx, const struct source_start *start)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    source_registry_tell(p->opt.registry, str_from(p->topic), true);
    return dump_start_begins(p->dump_start, start);
}

/* ---- callbacks of the saver, on its thread; saves() also of the fan-out ---- */

static void saves(void *ctx)
{
    const struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    if (p->opt.saves != NULL)
        p->opt.saves(p->opt.ctx);
}

static bool connected(void *ctx)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    return source_status(p->source).state == SOURCE_RUNNING;
}

static bool waits(void *ctx)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    return builder_waits(p->builder);
}

static void stuck(void *ctx, const char *why)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);
    struct err err = {0};

    err_set(&err, ERR_RETRY, "%s; connecting again", why);
    source_fault(p->source, read_position_version(p->reader), &err);
}

/* The coordinator, whom the store has told as well, says so and ends the pipeline. */
static void fenced(void *ctx)
{
    pipeline_discard(MAGIC_CAST(pipeline, ctx));
}

/* ---- the parts ---- */

/* Make what shows the stream's progress, and what else the threads share. */
static void make_shared(struct pipeline *p)
{
    p->known = known_server_new(p->start.identity);
    p->reads = mysql_group_new();
    p->wanted = wanted_versions_new();
    p->handoff = handoff_new(HANDOFF_BYTES);
    p->progress = progress_new(&p->start.position);
    p->pause = stream_pause_new(STAND_MS);
    p->reader = read_position_new(start_point_version(&p->start));
    read_position_set_gtids(p->reader, p->start.executed);
    p->denied = access_denied_new();
}

/* Make what finds documents beyond a row's own. */
static void make_followers(struct pipeline *p)
{
    const struct pipeline_options *o = &p->opt;

    p->cascades = cascades_new(&(struct cascades_options){.topic = p->topic,
                                                          .search = o->search,
                                                          .delivery = o->delivery,
                                                          .reader = p->reader,
                                                          .store = o->store,
                                                          .term = o->term,
                                                          .keeps = o->is_shared,
                                                          .ctx = p,
                                                          .mark = on_mark,
                                                          .is_at_rest = is_at_rest});
    p->fan_out = fan_out_new(&(struct fan_out_options){.topic = p->topic,
                                                       .term = o->term,
                                                       .store = o->store,
                                                       .delivery = o->delivery,
                                                       .reader = p->reader,
                                                       .server = o->server,
                                                       .known = p->known,
                                                       .registry = o->registry,
                                                       .denied = p->denied,
                                                       .is_settled = is_settled,
                                                       .saves = saves,
                                                       .share = o->fan_out_share,
                                                       .ctx = p});
    p->reread = reread_new(&(struct reread_options){.topic = p->topic,
                                                    .delivery = o->delivery,
                                                    .reader = p->reader,
                                                    .cascades = p->cascades,
                                                    .fan_out = p->fan_out,
                                                    .window_ms = o->read_window_ms,
                                                    .loaders = o->loads,
                                                    .server = o->server,
                                                    .known = p->known,
                                                    .group = p->reads,
                                                    .registry = o->registry,
                                                    .denied = p->denied});
}

static bool begins_now(const struct pipeline *p)
{
    return !p->start.known && !p->start.by_gtids && dump_start_is_now(p->start_at);
}

/* The last day whose midnight is known; INT64_MIN: none is. */
static bool find_last_day(const struct pipeline *p, const struct zone *zone, int64_t *day,
                          struct err *err)
{
    const int64_t now_ms = clock_wall_ms(), event_ms = p->start.position.event_ms;
    const int64_t begins_ms = begins_now(p) || event_ms > now_ms ? now_ms : event_ms;
    struct arena *a = arena_new();
    struct stored_midnight *m;
    size_t n = 0;
    const bool ok = store_load_midnights(p->opt.store, a, str_from(p->topic),
                                         str_from(p->day_zone), &m, &n, err);

    *day = n > 0 ? m[n - 1].day : begins_ms > 0 ? zone_day(zone, begins_ms / 1000) : INT64_MIN;
    arena_free(a);
    return ok;
}

/* A zone that this machine does not know stops nobody: its days cannot be replayed. */
static bool make_midnights(struct pipeline *p, struct err *err)
{
    struct zone *zone = NULL;
    int64_t day = INT64_MIN;

    if (!zone_open(str_from(p->day_zone), &zone, &p->no_days))
        log_failure(LOG_WARN, &p->no_days, "the topic's days are not kept for millrace replay",
                    KV("topic", (const char *)p->topic));
    else if (!find_last_day(p, zone, &day, err)) {
        zone_free(zone);
        return false;
    }
    p->midnights = midnights_new(zone, day);
    return true;
}

static void make_builder(struct pipeline *p)
{
    const struct pipeline_options *o = &p->opt;

    p->builder = builder_new(&(struct builder_options){.topic = p->topic,
                                                       .epoch = p->start.epoch,
                                                       .event_max = o->event_max,
                                                       .spill_folder = o->spill_folder,
                                                       .handoff = p->handoff,
                                                       .delivery = o->delivery,
                                                       .progress = p->progress,
                                                       .midnights = p->midnights,
                                                       .reader = p->reader,
                                                       .reread = p->reread,
                                                       .cascades = p->cascades,
                                                       .fan_out = p->fan_out,
                                                       .ctx = p,
                                                       .stop_table = on_stop,
                                                       .put_off_table = on_put_off,
                                                       .dead = on_dead,
                                                       .on_ddl = on_ddl,
                                                       .wait_committed = wait_committed,
                                                       .fault = on_fault,
                                                       .on_moved = on_moved,
                                                       .on_done = on_builder_done});
}

static void make_router(struct pipeline *p)
{
    const struct pipeline_options *o = &p->opt;

    p->router = router_new(&(struct router_options){.topic = p->topic,
                                                    .epoch = p->start.epoch,
                                                    .start = start_point_version(&p->start),
                                                    .before = p->start.after,
                                                    .store = o->store,
                                                    .server = o->server,
                                                    .known = p->known,
                                                    .group = p->reads,
                                                    .reader = p->reader,
                                                    .builder = p->builder,
                                                    .wanted = p->wanted,
                                                    .stop = &p->stop,
                                                    .hooks = {fit, kept, on_stop, on_denied, p},
                                                    .waits = on_wait});
}

static size_t repeats(void *ctx)
{
    const struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    return delivery_repeats(p->opt.delivery);
}

static void make_saver(struct pipeline *p)
{
    p->saver =
        saver_new(&(struct saver_options){.topic = p->topic,
                                          .store = p->opt.store,
                                          .progress = p->progress,
                                          .midnights = p->midnights,
                                          .day_zone = p->day_zone,
                                          .reader = p->reader,
                                          .server = p->opt.server,
                                          .known = p->known,
                                          .term = p->opt.term,
                                          .epoch = p->start.epoch,
                                          .final_version = p->start.final_version,
                                          .begins_ms = begins_now(p) ? clock_wall_ms() : 0,
                                          .ctx = p,
                                          .stuck = stuck,
                                          .connected = connected,
                                          .waits = waits,
                                          .repeats = repeats,
                                          .saves = saves,
                                          .fenced = fenced});
    saver_set_executed(p->saver, p->start.executed);
    if (p->start.known)
        saver_set_log(p->saver, position_file_base(str_from(p->start.file)), p->start.identity);
}

static void make_source(struct pipeline *p)
{
    p->dump_start = dump_start_new(&(struct dump_start_options){.topic = p->topic,
                                                                .start_at = p->start_at,
                                                                .start = &p->start,
                                                                .known = p->known,
                                                                .handoff = p->handoff,
                                                                .reader = p->reader,
                                                                .progress = p->progress,
                                                                .builder = p->builder,
                                                                .saver = p->saver,
                                                                .router = p->router});
    p->source = source_new(&(struct source_options){.topic = p->topic,
                                                    .server = p->opt.server,
                                                    .server_id = p->opt.server_id,
                                                    .uuid = p->uuid,
                                                    .event_max = p->opt.event_max,
                                                    .handoff = p->handoff,
                                                    .ctx = p,
                                                    .where = where,
                                                    .recognise = recognise,
                                                    .begins = begins});
}

bool pipeline_new(struct pipeline **out, const struct pipeline_options *opt, struct err *err)
{
    struct pipeline *p = mem_alloc(1, sizeof(*p));

    p->magic = MAGIC_pipeline;
    p->refs = 1;
    p->opt = *opt;
    p->topic = mem_copy(opt->topic);
    p->start_at = mem_copy(opt->start_at != NULL ? opt->start_at : "");
    p->uuid = mem_copy(opt->uuid);
    p->day_zone = mem_copy(opt->day_zone);
    server_access_ref(opt->server);
    stop_init(&p->stop);
    lock_init(&p->lock, LOCK_private);
    if (!start_point_load(&p->start, opt->store, p->topic, opt->epoch, err) ||
        !make_midnights(p, err)) {
        pipeline_unref(p);
        return err_wrap(err, "topic %s", opt->topic);
    }
    make_shared(p);
    make_followers(p);
    make_builder(p);
    make_router(p);
    make_saver(p);
    p->server_switch =
        (struct server_switch){.known = p->known, .reader = p->reader, .saver = p->saver};
    make_source(p);
    *out = p;
    return true;
}
