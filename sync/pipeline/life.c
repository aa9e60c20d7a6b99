#include "config.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/mysql/group.h"
#include "sync/checkpoint/midnights.h"
#include "sync/checkpoint/progress.h"
#include "sync/checkpoint/read_position.h"
#include "sync/checkpoint/saver.h"
#include "sync/pipeline/dump_start.h"
#include "sync/pipeline/parts.h"
#include "sync/pipeline/router.h"
#include "sync/pipeline/stream_pause.h"
#include "sync/read/access_denied.h"
#include "sync/read/source_registry.h"
#include "sync/related/cascade/cascades.h"
#include "sync/related/fan_out/fan_out.h"
#include "sync/routing/routing.h"
#include "sync/routing/wanted_versions.h"
#include "sync/server/known_server.h"
#include "sync/server/server_access.h"
#include "sync/source/handoff.h"

#include <assert.h>
#include <stdlib.h>

void pipeline_set_reads(struct pipeline *p, unsigned loads, int64_t read_window_ms)
{
    reread_set(p->reread, loads, read_window_ms);
}

void pipeline_set_fan_out_share(struct pipeline *p, unsigned percent)
{
    fan_out_set_share(p->fan_out, percent);
}

static void ref(void *owner)
{
    pipeline_ref(MAGIC_CAST(pipeline, owner));
}

static void unref(void *owner)
{
    pipeline_unref(MAGIC_CAST(pipeline, owner));
}

void pipeline_start(struct pipeline *p)
{
    const struct registered_source self = {p->opt.server, p->known, p->reader, p->fan_out, p,
                                           ref,           unref};

    p->started = true;
    p->started_ms = clock_mono_ms();
    source_registry_put(p->opt.registry, str_from(p->topic), &self);
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
    source_registry_remove(p->opt.registry, str_from(p->topic), p->reader);
    stop_set(&p->stop);
    dump_start_close(p->dump_start);
    stream_pause_close(p->pause);
    handoff_close(p->handoff);
    fan_out_rest(p->fan_out);
    cascades_rest(p->cascades);
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

uint64_t pipeline_final_version(struct pipeline *p)
{
    return saver_final_version(p->saver);
}

void pipeline_deletes_are_repeated(struct pipeline *p)
{
    saver_deletes_are_repeated(p->saver);
}

void pipeline_discard(struct pipeline *p)
{
    saver_freeze(p->saver);
    builder_discard(p->builder);
    mysql_group_end(p->reads);
    stream_pause_close(p->pause);
    __atomic_store_n(&p->discarded, true, __ATOMIC_RELEASE);
}

bool pipeline_is_discarded(const struct pipeline *p)
{
    return __atomic_load_n(&p->discarded, __ATOMIC_ACQUIRE);
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

struct pipeline *pipeline_ref(struct pipeline *p)
{
    const unsigned before = __atomic_fetch_add(&p->refs, 1, __ATOMIC_RELAXED);

    assert(before > 0);
    return p;
}

void pipeline_unref(struct pipeline *p)
{
    if (p == NULL || __atomic_fetch_sub(&p->refs, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    assert(!p->started);
    source_free(p->source);
    saver_free(p->saver);
    builder_free(p->builder);
    dump_start_free(p->dump_start);
    router_free(p->router);
    reread_free(p->reread);
    fan_out_free(p->fan_out);
    cascades_free(p->cascades);
    handoff_free(p->handoff);
    stream_pause_free(p->pause);
    progress_free(p->progress);
    midnights_free(p->midnights);
    read_position_free(p->reader);
    wanted_versions_free(p->wanted);
    access_denied_free(p->denied);
    known_server_free(p->known);
    mysql_group_free(p->reads);
    start_point_fini(&p->start);
    server_access_unref(p->opt.server);
    lock_fini(&p->lock);
    stop_fini(&p->stop);
    free(p->topic);
    free(p->start_at);
    free(p->day_zone);
    free(p->uuid);
    MAGIC_END(pipeline, p);
    free(p);
}

void pipeline_forget(struct pipeline *p)
{
    struct routing *r = wanted_versions_routing(p->wanted);

    fan_out_stop(p->fan_out); /* or it would request again what is forgotten */
    for (size_t i = 0; r != NULL && i < r->n_targets; i++)
        delivery_forget(p->opt.delivery, r->targets[i], OUTCOME_DEFERRED);
    routing_unref(r);
}

void pipeline_retry(struct pipeline *p)
{
    source_retry(p->source);
}

/* ---- versions ---- */

/* Command, on the builder thread. */
static void take_versions(void *ctx)
{
    struct pipeline *p = MAGIC_CAST(pipeline, ctx);

    router_take(p->router);
}

bool pipeline_set_versions(struct pipeline *p, const struct version_spec *const *specs,
                           size_t n, int64_t timeout_ms, uint64_t *from, struct err *err)
{
    const uint64_t generation = wanted_versions_set(p->wanted, specs, n);

    if (!p->started) {
        *from = read_position_version(p->reader);
        return true;
    }
    if (!handoff_put_command(p->handoff, take_versions, p))
        return err_set(err, ERR_STOP, "stopping");
    return wanted_versions_wait(p->wanted, generation, timeout_ms, from) ||
           err_set(err, ERR_RETRY,
                   "topic %s is busy or not connected: the change takes effect later",
                   p->topic);
}

bool pipeline_has_version(struct pipeline *p, struct str index, uint64_t *from)
{
    return p->started && wanted_versions_has_taken(p->wanted, index, from);
}

void pipeline_renew(struct pipeline *p)
{
    wanted_versions_renew(p->wanted);
    if (!handoff_put_command(p->handoff, take_versions, p))
        log_debug("the topic ends");
}
