#include "config.h"

#include "src/base/clock.h"
#include "src/base/mem.h"
#include "sync/assignment.h"
#include "sync/cascades.h"
#include "sync/denied.h"
#include "sync/dump_start.h"
#include "sync/fan_out.h"
#include "sync/handoff.h"
#include "sync/known_server.h"
#include "sync/pipeline_parts.h"
#include "sync/progress.h"
#include "sync/read_position.h"
#include "sync/routing.h"
#include "sync/saver.h"
#include "sync/server_access.h"
#include "sync/standstill.h"

#include <string.h>

#define LATE_WRITES_MS 600000 /* far beyond the life of a write that nobody waits for */

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

    standstill_here(p->standstill);
}

bool pipeline_stand(struct pipeline *p)
{
    if (!standstill_begin(p->standstill))
        return false;
    if (handoff_put_command(p->handoff, stand_here, p))
        return true;
    standstill_end(p->standstill);
    return false;
}

bool pipeline_stands(struct pipeline *p)
{
    return standstill_is_lost(p->standstill) ||
           (standstill_is_there(p->standstill) && reread_pending(p->reread) == 0 &&
            progress_idle(p->progress));
}

void pipeline_go_on(struct pipeline *p)
{
    standstill_end(p->standstill);
}

bool pipeline_has_gtid(struct pipeline *p)
{
    return known_server_has_gtid(p->known);
}

const char *pipeline_moved_to(const struct pipeline *p)
{
    return takeover_by(&p->takeover);
}

bool pipeline_is_denied(struct pipeline *p, struct str index, struct err *why)
{
    return denied_find(p->denied, index, why);
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
        .save_error = saved.error,
    };
    out->rows_unrooted = progress_unrooted(p->progress) + out->reread.rootless;
    memcpy(out->file, saved.file, sizeof(out->file));
    for (size_t i = 0; i < N_OUTCOMES; i++)
        out->changes_done[i] = __atomic_load_n(&c->done[i], __ATOMIC_RELAXED);
    out->rate = rate_of(p, &out->builder);
}
