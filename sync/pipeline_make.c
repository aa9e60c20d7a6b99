#include "config.h"

#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/assignment.h"
#include "sync/binlog/position.h"
#include "sync/cascades.h"
#include "sync/denied.h"
#include "sync/dump_start.h"
#include "sync/fan_out.h"
#include "sync/handoff.h"
#include "sync/known_server.h"
#include "sync/peers.h"
#include "sync/pipeline_parts.h"
#include "sync/progress.h"
#include "sync/read_position.h"
#include "sync/router.h"
#include "sync/routing.h"
#include "sync/saver.h"
#include "sync/server_access.h"
#include "sync/standstill.h"

#include <string.h>

#define HANDOFF_BYTES (4 << 20)
#define STAND_MS      10000

/* ---- what the builder says, on its thread ---- */

/* What shares an index stops with it, until the next routing leaves it out. */
static void stop_others(struct pipeline *p, const char *index)
{
    struct routing *r = assignment_routing(p->assignment);

    for (size_t i = 0; r != NULL && i < r->n_targets; i++)
        if (strcmp(r->targets[i]->index, index) == 0)
            __atomic_store_n(&((struct reading *)r->targets[i]->plan)->stopped, true,
                             __ATOMIC_RELAXED);
    routing_unref(r);
}

/* A stopped version stays out when schemas are read again. */
static void on_stop(void *ctx, struct target *target, const char *reason, const char *way_out)
{
    struct pipeline *p = ctx;

    assignment_stop(p->assignment, target->index);
    if (!p->opt.stop_table(p->opt.ctx, target, reason, way_out))
        pipeline_discard(p);
    stop_others(p, target->index);
}

static void on_dead(void *ctx, const struct dead_letter_note *note)
{
    struct pipeline *p = ctx;

    if (!p->opt.dead(p->opt.ctx, note))
        pipeline_discard(p);
}

/* On any thread. */
static void on_mark(void *ctx, const struct target *target, const char *reason)
{
    struct pipeline *p = ctx;

    if (!p->opt.mark(p->opt.ctx, target, reason))
        pipeline_discard(p);
}

static bool is_settled(void *ctx)
{
    struct pipeline *p = ctx;

    return assignment_is_taken(p->assignment);
}

static bool is_at_rest(void *ctx)
{
    struct pipeline *p = ctx;

    return builder_waits(p->builder) && !stop_is_set(&p->stop) &&
           source_status(p->source).state == SOURCE_RUNNING;
}

static bool on_ddl(void *ctx, const struct ddl *ddl, struct err *err)
{
    struct pipeline *p = ctx;

    if (!router_on_ddl(p->router, ddl, err))
        return false;
    p->opt.tables_changed(p->opt.ctx);
    return true;
}

static bool fit(void *ctx, const struct version_spec *v, const struct tables_now *now,
                struct err *err)
{
    struct pipeline *p = ctx;

    return p->opt.fit(p->opt.ctx, v, now, err);
}

static bool kept(void *ctx, const struct version_spec *v, struct schema_list *tables,
                 struct err *err)
{
    struct pipeline *p = ctx;

    return p->opt.kept(p->opt.ctx, v, tables, err);
}

static bool wait_committed(void *ctx, struct str witness, struct err *err)
{
    struct pipeline *p = ctx;

    return router_wait_committed(p->router, witness, err);
}

static void on_wait(void *ctx, const struct err *why)
{
    struct pipeline *p = ctx;

    source_note(p->source, why);
}

static void on_fault(void *ctx, const struct err *why)
{
    struct pipeline *p = ctx;

    source_fault(p->source, mark_version(builder_mark(p->builder), p->start.epoch), why);
}

static void on_builder_done(void *ctx)
{
    struct pipeline *p = ctx;

    router_disconnect(p->router);
    __atomic_store_n(&p->builder_done, true, __ATOMIC_RELEASE);
}

/* ---- what the source asks, on the reader thread ---- */

static bool where(void *ctx, struct source_start *out)
{
    struct pipeline *p = ctx;

    return dump_start_where(p->dump_start, out);
}

/* Another server is followed on by another pipeline, in an epoch of its own. */
static bool recognise(void *ctx, struct mysql_conn *c, const struct server_info *info,
                      struct err *err)
{
    struct pipeline *p = ctx;

    return takeover_meet(&p->takeover, c, info, err);
}

static bool begins(void *ctx, const struct source_start *start)
{
    struct pipeline *p = ctx;

    peers_tell(p->opt.peers, str_from(p->topic), true);
    return dump_start_begins(p->dump_start, start);
}

/* ---- what the saver asks, on its thread ---- */

static bool connected(void *ctx)
{
    struct pipeline *p = ctx;

    return source_status(p->source).state == SOURCE_RUNNING;
}

static bool waits(void *ctx)
{
    struct pipeline *p = ctx;

    return builder_waits(p->builder);
}

static void stuck(void *ctx, const char *why)
{
    struct pipeline *p = ctx;
    struct err err = {0};

    err_set(&err, ERR_RETRY, "%s; connecting again", why);
    source_fault(p->source, read_position_version(p->reader), &err);
}

static void fenced(void *ctx, const struct err *why)
{
    struct pipeline *p = ctx;

    log_failure(LOG_ERROR, why, "another node owns this source now: nothing is stored any more",
                KV("topic", (const char *)p->topic));
    pipeline_discard(p);
}

/* ---- the parts ---- */

/* What tells how far the stream is, and what else the threads share. */
static void make_shared(struct pipeline *p)
{
    p->known = known_server_new(p->start.identity);
    p->assignment = assignment_new();
    p->handoff = handoff_new(HANDOFF_BYTES);
    p->progress = progress_new(&p->start.mark);
    p->standstill = standstill_new(STAND_MS);
    p->reader = read_position_new(start_point_version(&p->start));
    read_position_set_gtids(p->reader, p->start.executed);
    p->denied = denied_new();
}

/* What rows lead to beside their own documents. */
static void make_followers(struct pipeline *p)
{
    const struct pipeline_options *o = &p->opt;

    p->cascades = cascades_new(&(struct cascades_options){.topic = p->topic,
                                                          .search = o->search,
                                                          .delivery = o->delivery,
                                                          .reader = p->reader,
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
                                                       .peers = o->peers,
                                                       .denied = p->denied,
                                                       .is_settled = is_settled,
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
                                                    .peers = o->peers,
                                                    .denied = p->denied});
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
                                                       .reader = p->reader,
                                                       .reread = p->reread,
                                                       .cascades = p->cascades,
                                                       .fan_out = p->fan_out,
                                                       .ctx = p,
                                                       .stop_table = on_stop,
                                                       .dead = on_dead,
                                                       .on_ddl = on_ddl,
                                                       .wait_committed = wait_committed,
                                                       .fault = on_fault,
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
                                                    .reader = p->reader,
                                                    .builder = p->builder,
                                                    .assignment = p->assignment,
                                                    .stop = &p->stop,
                                                    .hooks = {fit, kept, on_stop, p},
                                                    .waits = on_wait});
}

static void make_saver(struct pipeline *p)
{
    p->saver = saver_new(&(struct saver_options){.topic = p->topic,
                                                 .store = p->opt.store,
                                                 .progress = p->progress,
                                                 .reader = p->reader,
                                                 .server = p->opt.server,
                                                 .known = p->known,
                                                 .term = p->opt.term,
                                                 .epoch = p->start.epoch,
                                                 .ctx = p,
                                                 .stuck = stuck,
                                                 .connected = connected,
                                                 .waits = waits,
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

    p->opt = *opt;
    p->topic = mem_copy(opt->topic);
    p->start_at = mem_copy(opt->start_at != NULL ? opt->start_at : "");
    p->uuid = mem_copy(opt->uuid);
    server_access_ref(opt->server);
    stop_init(&p->stop);
    pthread_mutex_init(&p->lock, NULL);
    if (!start_point_load(&p->start, opt->store, p->topic, opt->epoch, err)) {
        pipeline_free(p);
        return err_wrap(err, "topic %s", opt->topic);
    }
    make_shared(p);
    make_followers(p);
    make_builder(p);
    make_router(p);
    make_saver(p);
    p->takeover = (struct takeover){.known = p->known, .reader = p->reader, .saver = p->saver};
    make_source(p);
    *out = p;
    return true;
}
