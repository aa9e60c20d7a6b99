#include "config.h"

#include "sync/related/fan_out/parts.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/checkpoint/read_position.h"
#include "sync/read/source_registry.h"
#include "sync/related/fan_out/jobs.h"
#include "sync/routing/routing.h"
#include "sync/server/server_access.h"

#include <stdlib.h>

#define LOAD_MAX 5000 /* jobs loaded at once: runs of several sources, some hundred each */

/* Returns 0 if the source does not run here. */
static uint64_t read_of(void *ctx, struct str source)
{
    struct fan_out *f = MAGIC_CAST(fan_out, ctx);
    struct registered_source peer;

    if (str_equal(source, f->owner.topic))
        return read_position_version(f->opt.reader);
    if (!source_registry_find(f->opt.registry, source, &peer))
        return 0;
    server_access_unref(peer.server);
    return read_position_version(peer.reader);
}

/* Jobs of another source wait if that source failed, or until the versions are settled. */
static struct fan_out_reach reach_of(const struct version *v)
{
    return (struct fan_out_reach){.topic = v->f->owner.topic,
                                  .others = clock_mono_ms() >= v->foreign_ms && v->f->settled,
                                  .read_of = read_of,
                                  .ctx = v->f};
}

/* Note what the store held at the time of that many puts. */
static void note_look(struct version *v, const struct stored_fan_out *jobs, size_t n,
                      uint64_t puts)
{
    const int64_t oldest_ms = fan_out_jobs_oldest_ms(jobs, n);

    lock_acquire(&v->f->lock);
    v->seen = puts;
    v->n_waiting = n;
    if (v->puts == puts || oldest_ms < v->oldest_ms || !v->looked)
        v->oldest_ms = oldest_ms;
    v->looked = v->looked || v->puts == puts;
    if (n == 0 && v->puts == puts)
        fan_out_leave_out(v);
    lock_release(&v->f->lock);
}

/*
 * The waiting jobs ask for a position ahead of the stream, so nothing that the stream has read
 * needs them.  The stream will request them again when it gets there.
 */
static void note_wait(struct version *v)
{
    lock_acquire(&v->f->lock);
    if (v->puts == v->seen)
        fan_out_leave_out(v);
    lock_release(&v->f->lock);
}

/* The jobs that waited are now the run. */
static void note_begin(struct version *v)
{
    lock_acquire(&v->f->lock);
    fan_out_enter(&v->waiting, v->target);
    fan_out_leave(&v->running);
    v->running = v->waiting;
    v->waiting = (struct token){0};
    lock_release(&v->f->lock);
}

static bool begin(struct version *v, struct stored_fan_out *jobs, size_t n, int64_t now_ms,
                  bool *waits, struct err *err)
{
    struct fan_out *f = v->f;
    struct stored_fan_out *together = mem_alloc(n, sizeof(*together));
    const size_t n_together = fan_out_jobs_gather(jobs, n, together);
    const struct fan_out_reach reach = reach_of(v);
    uint64_t run = together[0].run;
    bool ok = true;

    *waits = !fan_out_jobs_are_read(&reach, together, n_together);
    if (!*waits && run == 0) {
        run = together[0].id;
        ok = store_begin_fan_outs(f->opt.store, &f->owner, &together[0],
                                  together[n_together - 1].id,
                                  fan_out_jobs_highest(together, n_together), now_ms, err);
        FAILPOINT(fan_out_begun);
    }
    if (*waits) {
        note_wait(v);
    } else if (ok) {
        fan_out_run_begin(&v->run, run, fan_out_job_is_foreign(&reach, &together[0]), together,
                          n_together);
        note_begin(v);
    }
    free(together);
    return ok;
}

/* Nobody wakes the thread when jobs that wait for another source, or for a time, can run. */
static int64_t pause_ms(const struct fan_out *f, size_t n_stored)
{
    return !f->settled ? FAN_OUT_POLL_MS : n_stored > 0 ? FAN_OUT_WAIT_MS : FAN_OUT_LOOK_MS;
}

bool fan_out_look(struct version *v, bool *waits, struct err *err)
{
    const struct fan_out_reach reach = reach_of(v);
    struct fan_out *f = v->f;
    struct arena *a = arena_new();
    struct stored_fan_out *jobs = NULL;
    const int64_t now_ms = clock_wall_ms();
    size_t n_stored = 0, n = 0;

    lock_acquire(&f->lock);

    const uint64_t puts = v->puts;

    lock_release(&f->lock);

    bool ok = store_load_fan_outs(f->opt.store, a, str_from(v->alias), v->number,
                                  str_from(v->member), now_ms, LOAD_MAX, &jobs, &n_stored, err);

    if (ok) {
        n = fan_out_jobs_due(jobs, n_stored, now_ms);
        note_look(v, jobs, n, puts);
        v->look_ms = clock_mono_ms() + pause_ms(f, n_stored);
        n = fan_out_jobs_leave_away(&reach, jobs, n);
        *waits = !f->settled;
    }
    if (ok && n == 0)
        note_wait(v);
    ok = ok && (n == 0 || begin(v, jobs, n, now_ms, waits, err));
    arena_free(a);
    return ok;
}
