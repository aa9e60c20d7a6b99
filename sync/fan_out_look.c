#include "config.h"

#include "sync/fan_out_parts.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/mem.h"
#include "sync/document/resolver.h"
#include "sync/peers.h"
#include "sync/read_position.h"
#include "sync/routing.h"
#include "sync/server_access.h"

#include <stdlib.h>
#include <string.h>

#define LOAD_MAX 5000 /* jobs looked at: the runs of several sources, each of some hundred */

/* Those of the first's place and source, as many as one statement takes; in order of id. */
static size_t gather(struct stored_fan_out *jobs, size_t n, struct stored_fan_out *out)
{
    struct str *keys = mem_alloc(n, sizeof(*keys));
    size_t n_out = 0;

    for (size_t i = 0; i < n; i++) {
        if (jobs[i].run != jobs[0].run || jobs[i].place != jobs[0].place ||
            jobs[i].by_row != jobs[0].by_row || !str_equal(jobs[i].source, jobs[0].source))
            continue;
        out[n_out] = jobs[i];
        keys[n_out++] = jobs[i].key;
    }
    n_out = resolver_keys_max(keys, n_out);
    free(keys);
    return n_out;
}

bool fan_out_is_foreign(const struct fan_out *f, const struct stored_fan_out *job)
{
    return !str_equal(job->source, f->owner.topic);
}

/* How far the stream of a source has come; 0: it does not run here. */
static uint64_t read_of(struct fan_out *f, struct str source)
{
    struct peer peer;

    if (str_equal(source, f->owner.topic))
        return read_position_version(f->opt.reader);
    if (!peers_find(f->opt.peers, source, &peer))
        return 0;
    server_access_unref(peer.server);
    return read_position_version(peer.reader);
}

/* The stream has come to what the jobs, of one source, ask for. */
static bool is_read(struct fan_out *f, const struct stored_fan_out *jobs, size_t n)
{
    const uint64_t read = read_of(f, jobs[0].source) + READ_POSITION_GAP;

    for (size_t i = 0; i < n; i++)
        if (jobs[i].at_least > read)
            return false;
    return true;
}

/* A run goes on as a whole: what is done of it counts for all of its jobs. */
static bool is_run_read(struct fan_out *f, const struct stored_fan_out *jobs, size_t n,
                        size_t at)
{
    if (jobs[at].run == 0)
        return is_read(f, &jobs[at], 1);
    for (size_t i = 0; i < n; i++)
        if (jobs[i].run == jobs[at].run && !is_read(f, &jobs[i], 1))
            return false;
    return true;
}

/* Another source that is away does not keep the topic's own changes waiting. */
static size_t leave_away(struct version *v, struct stored_fan_out *jobs, size_t n)
{
    const bool rests = clock_mono_ms() < v->foreign_ms || !v->f->settled;
    struct stored_fan_out *kept_of = mem_alloc(n + 1, sizeof(*kept_of));
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!fan_out_is_foreign(v->f, &jobs[i]) || (!rests && is_run_read(v->f, jobs, n, i)))
            kept_of[kept++] = jobs[i];
    memcpy(jobs, kept_of, kept * sizeof(*jobs));
    free(kept_of);
    return kept;
}

static uint64_t highest_of(const struct stored_fan_out *jobs, size_t n)
{
    uint64_t highest = 0;

    for (size_t i = 0; i < n; i++)
        if (jobs[i].at_least > highest)
            highest = jobs[i].at_least;
    return highest;
}

static int64_t oldest_of(const struct stored_fan_out *jobs, size_t n)
{
    int64_t oldest_ms = INT64_MAX;

    for (size_t i = 0; i < n; i++)
        if (jobs[i].created_ms < oldest_ms)
            oldest_ms = jobs[i].created_ms;
    return oldest_ms;
}

/* What the store had when there were so many puts. */
static void note_look(struct version *v, const struct stored_fan_out *jobs, size_t n,
                      uint64_t puts)
{
    const int64_t oldest_ms = oldest_of(jobs, n);

    pthread_mutex_lock(&v->f->lock);
    v->seen = puts;
    v->n_waiting = n;
    if (v->puts == puts || oldest_ms < v->oldest_ms || !v->looked)
        v->oldest_ms = oldest_ms;
    v->looked = v->looked || v->puts == puts;
    if (n == 0 && v->puts == puts)
        fan_out_leave_out(v);
    pthread_mutex_unlock(&v->f->lock);
}

/*
 * They ask for what the stream has yet to come to, so nothing that it came to needs them; it
 * will ask for them again when it comes there.
 */
static void note_wait(struct version *v)
{
    pthread_mutex_lock(&v->f->lock);
    if (v->puts == v->seen)
        fan_out_leave_out(v);
    pthread_mutex_unlock(&v->f->lock);
}

/* Whatever waited is what runs now. */
static void note_begin(struct version *v)
{
    pthread_mutex_lock(&v->f->lock);
    fan_out_enter(&v->waiting, v->target);
    fan_out_leave(&v->running);
    v->running = v->waiting;
    v->waiting = (struct token){0};
    pthread_mutex_unlock(&v->f->lock);
}

static bool begin(struct version *v, struct stored_fan_out *jobs, size_t n, bool *waits,
                  struct err *err)
{
    struct fan_out *f = v->f;
    struct stored_fan_out *together = mem_alloc(n, sizeof(*together));
    const size_t n_together = gather(jobs, n, together);
    uint64_t run = together[0].run;
    bool ok = true;

    *waits = !is_read(f, together, n_together);
    if (!*waits && run == 0) {
        run = together[0].id;
        ok = store_begin_fan_outs(f->opt.store, &f->owner, &together[0],
                                  together[n_together - 1].id, highest_of(together, n_together),
                                  0, clock_wall_ms(), err);
    }
    if (*waits) {
        note_wait(v);
    } else if (ok) {
        fan_out_run_begin(&v->run, run, fan_out_is_foreign(f, &together[0]), together,
                          n_together);
        note_begin(v);
    }
    free(together);
    return ok;
}

/* *waits: there are jobs, which cannot begin yet. */
bool fan_out_look(struct version *v, bool *waits, struct err *err)
{
    struct fan_out *f = v->f;
    struct arena *a = arena_new();
    struct stored_fan_out *jobs = NULL;
    size_t n = 0;

    pthread_mutex_lock(&f->lock);

    const uint64_t puts = v->puts;

    pthread_mutex_unlock(&f->lock);

    bool ok = store_load_fan_outs(f->opt.store, a, str_from(v->alias), v->number,
                                  str_from(v->member), LOAD_MAX, &jobs, &n, err);

    if (ok) {
        note_look(v, jobs, n, puts);
        n = leave_away(v, jobs, n);
        v->look_ms = clock_mono_ms() + (f->settled ? FAN_OUT_LOOK_MS : FAN_OUT_POLL_MS);
        *waits = !f->settled;
    }
    if (ok && n == 0)
        note_wait(v);
    ok = ok && (n == 0 || begin(v, jobs, n, waits, err));
    arena_free(a);
    return ok;
}
