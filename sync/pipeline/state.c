#include "config.h"

#include "src/base/clock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/checkpoint/progress.h"
#include "sync/checkpoint/read_position.h"
#include "sync/checkpoint/saver.h"
#include "sync/pipeline/dump_start.h"
#include "sync/pipeline/parts.h"
#include "sync/pipeline/stream_pause.h"
#include "sync/read/access_denied.h"
#include "sync/related/cascade/cascades.h"
#include "sync/related/fan_out/fan_out.h"
#include "sync/routing/routing.h"
#include "sync/routing/wanted_versions.h"
#include "sync/server/known_server.h"
#include "sync/server/server_access.h"
#include "sync/source/handoff.h"

#include <string.h>

#define RATE_APART_MS  2000
#define LATE_WRITES_MS 600000 /* far beyond the life of a write that nobody awaits */

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

size_t pipeline_gone_stay(struct pipeline *p, struct str index)
{
    return cascades_stay(p->cascades, index);
}

bool pipeline_gone_may_stay(struct pipeline *p)
{
    return cascades_may_stay(p->cascades);
}

int64_t pipeline_gone_oldest_ms(struct pipeline *p, struct str alias)
{
    return cascades_oldest_ms(p->cascades, alias);
}

void pipeline_touch_gone(struct pipeline *p, struct str index, struct dirty_set *t)
{
    cascades_touch(p->cascades, index, t);
}

void pipeline_wake_fan_out(struct pipeline *p)
{
    fan_out_wake(p->fan_out);
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
    struct routing *r = wanted_versions_routing(p->wanted);
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
    struct routing *r = wanted_versions_routing(p->wanted);
    struct target **list = mem_alloc(r == NULL ? 1 : r->n_targets + 1, sizeof(struct target *));

    *n = 0;
    for (size_t i = 0; r != NULL && i < r->n_targets; i++)
        if (str_equal(str_from(r->targets[i]->index), index))
            list[(*n)++] = target_ref(r->targets[i]);
    routing_unref(r);
    return list;
}

struct grace_period *pipeline_grace_period(struct pipeline *p, struct str index)
{
    return cascades_grace_period(p->cascades, index);
}

bool pipeline_is_settled(struct pipeline *p)
{
    return wanted_versions_is_taken(p->wanted);
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
    const struct commit_position done = progress_done(p->progress);

    return commit_position_version(&done, p->start.epoch) >= version ||
           (read_position_version(p->reader) >= version && reread_pending(p->reread) == 0 &&
            progress_idle(p->progress));
}

static void stand_here(void *ctx)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    stream_pause_here(p->pause);
}

bool pipeline_stand(struct pipeline *p)
{
    if (!stream_pause_begin(p->pause))
        return false;
    if (handoff_put_command(p->handoff, stand_here, p))
        return true;
    stream_pause_end(p->pause);
    return false;
}

struct routing *pipeline_routing(struct pipeline *p)
{
    return wanted_versions_routing(p->wanted);
}

bool pipeline_stands(struct pipeline *p)
{
    return stream_pause_is_lost(p->pause) ||
           (stream_pause_is_there(p->pause) && reread_pending(p->reread) == 0 &&
            progress_idle(p->progress));
}

void pipeline_go_on(struct pipeline *p)
{
    stream_pause_end(p->pause);
}

bool pipeline_has_gtid(struct pipeline *p)
{
    return known_server_has_gtid(p->known);
}

const char *pipeline_moved_to(const struct pipeline *p)
{
    return server_switch_to(&p->server_switch);
}

uint64_t pipeline_mark(struct pipeline *p)
{
    const struct source_status s = source_status(p->source);
    const struct ticket_counters *c = progress_counters(p->progress);
    uint64_t n = s.reconnects + __atomic_load_n(&c->read, __ATOMIC_RELAXED);

    for (size_t i = 0; i < N_OUTCOMES; i++)
        n += __atomic_load_n(&c->done[i], __ATOMIC_RELAXED);
    return n << 4 | (uint64_t)s.state; /* each of them only grows */
}

bool pipeline_has_failed(struct pipeline *p)
{
    return source_status(p->source).state == SOURCE_FAILED;
}

bool pipeline_has_caught_up(struct pipeline *p)
{
    return saver_has_caught_up(p->saver);
}

bool pipeline_is_denied_tables(struct pipeline *p, struct str index)
{
    return access_denied_has_tables(p->denied, index);
}

bool pipeline_is_denied(struct pipeline *p, struct str index, struct err *why)
{
    return access_denied_find(p->denied, index, why);
}

bool pipeline_connect(struct pipeline *p, unsigned read_timeout_s, struct mysql_conn **out,
                      struct err *err)
{
    struct mysql_options opt = p->opt.server->options;

    opt.read_timeout_s = read_timeout_s;
    return known_server_open(p->known, &opt, out, err);
}

struct read_links pipeline_links(struct pipeline *p, struct stop *stop, int64_t timeout_ms)
{
    return (struct read_links){.own.opt = {.topic = p->topic,
                                           .primary = p->opt.server,
                                           .known = p->known,
                                           .reader = p->reader,
                                           .stop = stop,
                                           .timeout_ms = timeout_ms},
                               .registry = p->opt.registry};
}

bool pipeline_identity(struct pipeline *p, char *out, size_t cap)
{
    return known_server_identity(p->known, out, cap);
}

/*
 * Returns the rate per second, with the counter at count now; 0 before two looks far enough
 * apart.
 */
static double rate_look(struct rate *r, int64_t now_ms, uint64_t count)
{
    if (now_ms - r->at_ms < RATE_APART_MS)
        return r->per_s;
    r->per_s =
        r->at_ms == 0 ? 0 : (double)(count - r->count) * 1000 / (double)(now_ms - r->at_ms);
    r->at_ms = now_ms;
    r->count = count;
    return r->per_s;
}

static double rate_of(struct pipeline *p, const struct builder_status *b)
{
    lock_acquire(&p->lock);

    const double rate =
        rate_look(&p->rate, clock_mono_ms(), b->inserts + b->updates + b->deletes);

    lock_release(&p->lock);
    return rate;
}

static void put_status(struct pipeline *p, const struct saver_status *from,
                       struct pipeline_status *out)
{
    const struct saver_status saved = *from;
    const struct ticket_counters *c = progress_counters(p->progress);

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
        .lag = saved.lag,
        .lag_bytes = saved.lag_bytes,
        .bytes_known = saved.bytes_known,
        .asked_ms = saved.asked_ms,
        .asking_ms = saved.asking_ms,
        .queue_bytes = handoff_level(p->handoff),
        .resolving = reread_pending(p->reread),
        .gone_stay = cascades_stay(p->cascades, STR("")),
        .changes_read = __atomic_load_n(&c->read, __ATOMIC_RELAXED),
        .save_error = saved.error,
        .save_failed_ms = saved.failed_ms,
        .no_days = p->no_days,
    };
    out->rows_unrooted = progress_unrooted(p->progress) + out->reread.rootless;
    memcpy(out->file, saved.file, sizeof(out->file));
    for (size_t i = 0; i < N_OUTCOMES; i++)
        out->changes_done[i] = __atomic_load_n(&c->done[i], __ATOMIC_RELAXED);
    out->rate = rate_of(p, &out->builder);
}

void pipeline_status(struct pipeline *p, struct pipeline_status *out)
{
    struct saver_status saved;

    saver_status(p->saver, &saved);
    put_status(p, &saved, out);
}

void pipeline_glance(struct pipeline *p, struct pipeline_status *out)
{
    struct saver_status saved;

    saver_glance(p->saver, &saved);
    put_status(p, &saved, out);
}
