#include "config.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "sync/assignment.h"
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

#include <stdlib.h>

void pipeline_set_reads(struct pipeline *p, unsigned loads, int64_t read_window_ms)
{
    reread_set(p->reread, loads, read_window_ms);
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
    denied_free(p->denied);
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

    fan_out_stop(p->fan_out); /* it would ask again for what is forgotten */
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

/* ---- versions ---- */

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

bool pipeline_has_version(struct pipeline *p, struct str index, uint64_t *from)
{
    return p->started && assignment_has_taken(p->assignment, index, from);
}

void pipeline_renew(struct pipeline *p)
{
    assignment_renew(p->assignment);
    if (!handoff_put_command(p->handoff, take_versions, p))
        log_debug("the topic ends");
}
