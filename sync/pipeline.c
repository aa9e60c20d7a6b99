#include "config.h"

#include "sync/pipeline.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "sync/assignment.h"
#include "sync/binlog/position.h"
#include "sync/cascades.h"
#include "sync/dump_start.h"
#include "sync/fan_out.h"
#include "sync/handoff.h"
#include "sync/known_server.h"
#include "sync/peers.h"
#include "sync/progress.h"
#include "sync/rate.h"
#include "sync/read_position.h"
#include "sync/router.h"
#include "sync/routing.h"
#include "sync/saver.h"
#include "sync/server_access.h"
#include "sync/standstill.h"
#include "sync/start_point.h"
#include "sync/takeover.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HANDOFF_BYTES (4 << 20)
#define STAND_MS      10000
#define LATE_WRITES_MS 600000 /* far beyond the life of a write that nobody waits for */

struct pipeline {
    struct pipeline *next; /* in a list of retired ones */
    struct pipeline_options opt;
    char *topic, *start_at, *uuid;
    struct start_point start;
    struct known_server *known;
    struct assignment *assignment;
    struct handoff *handoff;
    struct progress *progress;
    struct standstill *standstill;
    struct read_position *reader;
    struct cascades *cascades;
    struct fan_out *fan_out;
    struct reread *reread;
    struct builder *builder;
    struct router *router;
    struct saver *saver;
    struct dump_start *dump_start;
    struct source *source;
    bool builder_done; /* atomic */
    struct takeover takeover;
    bool quiesced, started;
    int64_t started_ms;
    struct stop stop;

    pthread_mutex_t lock;

    /* All guarded by lock. */
    struct rate rate;
};

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
    p->opt.stop_table(p->opt.ctx, target, reason, way_out);
    stop_others(p, target->index);
}

static void on_dead(void *ctx, const struct dead_letter_note *note)
{
    struct pipeline *p = ctx;

    p->opt.dead(p->opt.ctx, note);
}

/* On any thread. */
static void on_mark(void *ctx, const struct target *target, const char *reason)
{
    struct pipeline *p = ctx;

    p->opt.mark(p->opt.ctx, target, reason);
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

/* ---- life ---- */

/* What tells how far the stream is, and what else the threads share. */
static void make_shared(struct pipeline *p)
{
    p->known = known_server_new(p->start.identity);
    p->assignment = assignment_new();
    p->handoff = handoff_new(HANDOFF_BYTES);
    p->progress = progress_new(&p->start.mark);
    p->standstill = standstill_new(&progress_counters(p->progress)->read, STAND_MS);
    p->reader = read_position_new(start_point_version(&p->start));
    read_position_set_gtids(p->reader, p->start.executed);
}

static void make_builder(struct pipeline *p)
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
                                                       .is_settled = is_settled,
                                                       .ctx = p});
    p->reread = reread_new(&(struct reread_options){.topic = p->topic,
                                                    .delivery = o->delivery,
                                                    .reader = p->reader,
                                                    .cascades = p->cascades,
                                                    .fan_out = p->fan_out,
                                                    .window_ms = o->read_window_ms,
                                                    .server = o->server,
                                                    .known = p->known,
                                                    .peers = o->peers});
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
                                                       .standstill = p->standstill,
                                                       .ctx = p,
                                                       .stop_table = on_stop,
                                                       .dead = on_dead,
                                                       .on_ddl = on_ddl,
                                                       .wait_committed = wait_committed,
                                                       .fault = on_fault,
                                                       .on_done = on_builder_done});
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
    make_builder(p);
    make_saver(p);
    p->takeover =
        (struct takeover){.known = p->known, .reader = p->reader, .saver = p->saver};
    make_source(p);
    *out = p;
    return true;
}

void pipeline_start(struct pipeline *p)
{
    p->started = true;
    p->started_ms = clock_mono_ms();
    peers_put(p->opt.peers, str_from(p->topic),
              &(struct peer){p->opt.server, p->known, p->reader, p->fan_out});
    reread_start(p->reread);
    cascades_start(p->cascades);
    fan_out_start(p->fan_out);
    builder_start(p->builder);
    saver_start(p->saver);
    source_start(p->source);
}

void pipeline_quiesce(struct pipeline *p)
{
    if (p->quiesced)
        return;
    p->quiesced = true;
    peers_remove(p->opt.peers, str_from(p->topic), p->reader);
    stop_set(&p->stop);
    dump_start_close(p->dump_start);
    standstill_close(p->standstill);
    handoff_close(p->handoff);
    fan_out_rest(p->fan_out);
    if (p->started)
        source_stop(p->source);
}

bool pipeline_is_handed_over(struct pipeline *p)
{
    return __atomic_load_n(&p->builder_done, __ATOMIC_ACQUIRE) &&
           reread_pending(p->reread) == 0 && cascades_pending(p->cascades) == 0;
}

bool pipeline_idle(struct pipeline *p)
{
    return pipeline_is_handed_over(p) && progress_idle(p->progress);
}

bool pipeline_save(struct pipeline *p, struct err *err)
{
    return saver_save(p->saver, err);
}

void pipeline_discard(struct pipeline *p)
{
    saver_freeze(p->saver);
    builder_discard(p->builder);
    standstill_close(p->standstill);
}

void pipeline_join(struct pipeline *p)
{
    pipeline_quiesce(p);
    if (!p->started)
        return;
    p->started = false;
    reread_stop(p->reread);
    cascades_stop(p->cascades);
    fan_out_stop(p->fan_out);
    builder_join(p->builder);
    saver_stop(p->saver);
}

void pipeline_free(struct pipeline *p)
{
    if (p == NULL)
        return;
    source_free(p->source);
    saver_free(p->saver);
    builder_free(p->builder);
    dump_start_free(p->dump_start);
    router_free(p->router);
    reread_free(p->reread);
    fan_out_free(p->fan_out);
    cascades_free(p->cascades);
    handoff_free(p->handoff);
    standstill_free(p->standstill);
    progress_free(p->progress);
    read_position_free(p->reader);
    assignment_free(p->assignment);
    known_server_free(p->known);
    start_point_fini(&p->start);
    server_access_unref(p->opt.server);
    pthread_mutex_destroy(&p->lock);
    stop_fini(&p->stop);
    free(p->topic);
    free(p->start_at);
    free(p->uuid);
    free(p);
}

void pipeline_forget(struct pipeline *p)
{
    struct routing *r = assignment_routing(p->assignment);

    fan_out_stop(p->fan_out); /* it would take what is forgotten for written */
    for (size_t i = 0; r != NULL && i < r->n_targets; i++)
        delivery_forget(p->opt.delivery, r->targets[i], OUTCOME_DEFERRED);
    routing_unref(r);
}

void pipeline_retire(struct pipeline *p, struct pipeline **list)
{
    p->next = *list;
    *list = p;
}

struct pipeline *pipeline_unretire(struct pipeline **list)
{
    struct pipeline *p = *list;

    *list = p->next;
    return p;
}

void pipeline_retry(struct pipeline *p)
{
    source_retry(p->source);
}

/* ---- what others ask ---- */

/* Command, on the builder thread. */
static void take_versions(void *ctx)
{
    struct pipeline *p = ctx;

    router_take(p->router);
}

bool pipeline_set_versions(struct pipeline *p, const struct version_spec *const *specs,
                           size_t n, int64_t timeout_ms, uint64_t *from, struct err *err)
{
    const uint64_t generation = assignment_set(p->assignment, specs, n);

    if (!p->started) {
        *from = read_position_version(p->reader);
        return true;
    }
    if (!handoff_put_command(p->handoff, take_versions, p))
        return err_set(err, ERR_STOP, "stopping");
    return assignment_wait(p->assignment, generation, timeout_ms, from) ||
           err_set(err, ERR_RETRY,
                   "topic %s is not connected, or busy: the change takes effect when it is",
                   p->topic);
}

void pipeline_renew(struct pipeline *p)
{
    assignment_renew(p->assignment);
    if (!handoff_put_command(p->handoff, take_versions, p))
        log_debug("the topic ends");
}

void pipeline_load(struct pipeline *p, struct load_batch *batch)
{
    reread_load(p->reread, batch);
}

void pipeline_gone(struct pipeline *p, const struct gone_row *row)
{
    cascades_gone(p->cascades, row);
}

bool pipeline_cascades_wait_for(struct pipeline *p, struct str index)
{
    return cascades_wait_for(p->cascades, index);
}

struct fan_out_progress pipeline_fan_out(struct pipeline *p, struct str alias, uint64_t number)
{
    return fan_out_progress(p->fan_out, alias, number);
}

int64_t pipeline_fan_out_oldest_ms(struct pipeline *p, struct str index)
{
    return fan_out_oldest_ms(p->fan_out, index);
}

struct target *pipeline_target(struct pipeline *p, struct str index, struct str table)
{
    struct routing *r = assignment_routing(p->assignment);
    struct target *found = NULL;

    for (size_t i = 0; r != NULL && i < r->n_targets && found == NULL; i++)
        if (str_equal(str_from(r->targets[i]->index), index) &&
            (table.len == 0 || str_equal(str_from(r->targets[i]->table), table)))
            found = target_ref(r->targets[i]);
    routing_unref(r);
    return found;
}

struct target **pipeline_targets(struct pipeline *p, struct str index, size_t *n)
{
    struct routing *r = assignment_routing(p->assignment);
    struct target **list = mem_alloc(r == NULL ? 1 : r->n_targets + 1, sizeof(struct target *));

    *n = 0;
    for (size_t i = 0; r != NULL && i < r->n_targets; i++)
        if (str_equal(str_from(r->targets[i]->index), index))
            list[(*n)++] = target_ref(r->targets[i]);
    routing_unref(r);
    return list;
}

struct turnstile *pipeline_turnstile(struct pipeline *p, struct str index)
{
    return cascades_turnstile(p->cascades, index);
}

bool pipeline_is_settled(struct pipeline *p)
{
    return assignment_is_taken(p->assignment);
}

struct read_position *pipeline_read_position(struct pipeline *p)
{
    return p->reader;
}

uint64_t pipeline_epoch(const struct pipeline *p)
{
    return p->start.epoch;
}

uint64_t pipeline_stamp_max(struct pipeline *p)
{
    const uint64_t end = dump_start_log_end(p->dump_start);
    const uint64_t read = read_position_version(p->reader);

    return end == 0 ? UINT64_MAX : (read > end ? read : end) + READ_POSITION_GAP;
}

uint64_t pipeline_area_floor(struct pipeline *p)
{
    const uint64_t end = dump_start_log_end(p->dump_start);

    if (clock_mono_ms() - p->started_ms > LATE_WRITES_MS)
        return 0;
    return end == 0 ? UINT64_MAX : end + READ_POSITION_GAP;
}

bool pipeline_done_up_to(struct pipeline *p, uint64_t version)
{
    const struct mark done = progress_done(p->progress);

    return mark_version(&done, p->start.epoch) >= version ||
           (read_position_version(p->reader) >= version && reread_pending(p->reread) == 0 &&
            progress_idle(p->progress));
}

static void stand_here(void *ctx)
{
    struct pipeline *p = ctx;

    standstill_here(p->standstill, read_position_version(p->reader));
}

bool pipeline_stand(struct pipeline *p)
{
    uint64_t ignored;

    if (!standstill_begin(p->standstill))
        return false;
    if (handoff_put_command(p->handoff, stand_here, p))
        return true;
    (void)standstill_end(p->standstill, &ignored);
    return false;
}

bool pipeline_stands_here(struct pipeline *p)
{
    return standstill_is_frozen(p->standstill) || standstill_is_lost(p->standstill);
}

void pipeline_stand_at(struct pipeline *p, uint64_t low, uint64_t high)
{
    standstill_go_to(p->standstill, low, high);
}

bool pipeline_stands_there(struct pipeline *p)
{
    return standstill_is_lost(p->standstill) ||
           (standstill_is_there(p->standstill) && reread_pending(p->reread) == 0 &&
            progress_idle(p->progress));
}

bool pipeline_go_on(struct pipeline *p, uint64_t *between)
{
    return standstill_end(p->standstill, between);
}

uint64_t pipeline_changes(struct pipeline *p)
{
    return __atomic_load_n(&progress_counters(p->progress)->read, __ATOMIC_RELAXED);
}

bool pipeline_has_gtid(struct pipeline *p)
{
    return known_server_has_gtid(p->known);
}

const char *pipeline_moved_to(const struct pipeline *p)
{
    return takeover_by(&p->takeover);
}

bool pipeline_connect(struct pipeline *p, struct mysql_conn **out, struct err *err)
{
    return known_server_open(p->known, &p->opt.server->options, out, err);
}

struct read_links pipeline_links(struct pipeline *p, struct stop *stop, int64_t timeout_ms)
{
    return (struct read_links){.own.opt = {.topic = p->topic,
                                           .primary = p->opt.server,
                                           .known = p->known,
                                           .reader = p->reader,
                                           .stop = stop,
                                           .timeout_ms = timeout_ms},
                               .peers = p->opt.peers};
}

bool pipeline_identity(struct pipeline *p, char *out, size_t cap)
{
    return known_server_identity(p->known, out, cap);
}

static double rate_of(struct pipeline *p, const struct builder_status *b)
{
    pthread_mutex_lock(&p->lock);

    const double rate =
        rate_look(&p->rate, clock_mono_ms(), b->inserts + b->updates + b->deletes);

    pthread_mutex_unlock(&p->lock);
    return rate;
}

void pipeline_status(struct pipeline *p, struct pipeline_status *out)
{
    struct saver_status saved;
    const struct ticket_counters *c = progress_counters(p->progress);

    saver_status(p->saver, &saved);
    *out = (struct pipeline_status){
        .source = source_status(p->source),
        .builder = builder_status(p->builder),
        .prepared = builder_prepared(p->builder),
        .reread = reread_status(p->reread),
        .fan_out = fan_out_status(p->fan_out),
        .epoch = p->start.epoch,
        .offset = saved.offset,
        .gtids = saved.gtids,
        .event_ms = read_position_event_ms(p->reader),
        .lag_s = saved.lag_s,
        .lag_bytes = saved.lag_bytes,
        .lag_known = saved.lag_known,
        .queue_bytes = handoff_level(p->handoff),
        .resolving = reread_pending(p->reread),
        .changes_read = __atomic_load_n(&c->read, __ATOMIC_RELAXED),
        .rows_unrooted = progress_unrooted(p->progress),
        .save_error = saved.error,
    };
    memcpy(out->file, saved.file, sizeof(out->file));
    for (size_t i = 0; i < N_OUTCOMES; i++)
        out->changes_done[i] = __atomic_load_n(&c->done[i], __ATOMIC_RELAXED);
    out->rate = rate_of(p, &out->builder);
}
