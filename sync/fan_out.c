#include "config.h"

#include "sync/fan_out.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/store_fan_out.h"
#include "sync/delivery/turnstile.h"
#include "sync/document/resolver.h"
#include "sync/fan_out_run.h"
#include "sync/peers.h"
#include "sync/read_links.h"
#include "sync/read_position.h"
#include "sync/routing.h"
#include "sync/server_access.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VIEW_TIMEOUT_MS 10000
#define RETRY_MS        500
#define LOOK_MS         1000 /* for jobs that others have put */
#define FOREIGN_MS      2000
#define POLL_MS         50   /* something is waited for that tells nobody */
#define LOAD_MAX        5000 /* jobs looked at: the runs of several sources, each of some hundred */

/* Its jobs are in the index's turnstile, from when they count until they are done. */
struct token {
    struct turnstile *turnstile; /* NULL: not inside */
    unsigned side;
};

/* An index version; there for good once it was seen. */
struct version {
    struct version *next;
    struct fan_out *f;
    char *index;  /* "orders_v2" */
    char *member; /* the table of it whose documents they are */
    char *alias;
    uint64_t number;

    /* The thread's. */
    struct fan_out_run run;
    struct target *target; /* of this turn; borrowed */
    int64_t look_ms;       /* when the store is asked next */
    int64_t retry_ms;
    int64_t foreign_ms; /* until then only the topic's own changes: another source failed */

    /* All guarded by lock. */
    struct token waiting, running;
    uint64_t puts, seen; /* seen: when the store was asked last */
    bool looked;         /* oldest_ms is known */
    int64_t oldest_ms;
    size_t n_waiting;
    struct fan_out_progress progress;
};

struct fan_out {
    struct fan_out_options opt;
    struct fan_out_owner owner;
    struct stop stop;
    struct read_links links;
    struct fan_out_status status; /* atomics */
    pthread_t thread;
    bool started;
    bool resting; /* atomic */
    bool settled; /* the thread's: the routing of this turn is the one that is wanted */
    bool fenced;  /* the thread's: another node owns the topic */

    pthread_mutex_t lock;
    pthread_cond_t woken; /* monotonic clock */

    /* All guarded by lock. */
    struct version *versions;
    struct routing *routing; /* a reference; NULL: not yet */
    bool wake;
};

static void count(uint64_t *counter, uint64_t n)
{
    __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

/* ---- versions ---- */

static void wake_up(struct fan_out *f)
{
    pthread_mutex_lock(&f->lock);
    f->wake = true;
    pthread_cond_signal(&f->woken);
    pthread_mutex_unlock(&f->lock);
}

static void on_slice(void *ctx)
{
    wake_up(ctx);
}

static void enter(struct token *token, const struct target *t)
{
    if (token->turnstile != NULL)
        return;
    token->turnstile = ((const struct reading *)t->plan)->turnstile;
    if (token->turnstile != NULL)
        token->side = turnstile_enter(token->turnstile);
}

static void leave(struct token *token)
{
    if (token->turnstile != NULL)
        turnstile_leave(token->turnstile, token->side);
    token->turnstile = NULL;
}

/* Tables of one index have jobs and runs of their own. */
static bool is_of(const struct version *v, const struct target *t)
{
    return strcmp(v->index, t->index) == 0 && strcmp(v->member, t->table) == 0;
}

/* Locked.  One that comes may have jobs from before the start. */
static struct version *find_version(struct fan_out *f, const struct target *t)
{
    const struct reading *reading = t->plan;
    struct version *v = f->versions;

    while (v != NULL && !is_of(v, t))
        v = v->next;
    if (v != NULL)
        return v;
    v = mem_alloc(1, sizeof(*v));
    v->f = f;
    v->index = mem_copy(t->index);
    v->member = mem_copy(t->table);
    v->alias = mem_copy(reading->alias);
    v->number = reading->number;
    v->puts = 1;
    enter(&v->waiting, t);
    fan_out_run_init(&v->run, on_slice, f);
    v->next = f->versions;
    f->versions = v;
    return v;
}

/* Locked.  Nothing is written to it any more. */
static void leave_out(struct version *v)
{
    leave(&v->waiting);
    leave(&v->running);
}

static bool is_stopped(const struct target *t)
{
    return __atomic_load_n(&((const struct reading *)t->plan)->stopped, __ATOMIC_RELAXED);
}

static const struct target *target_of(const struct version *v, const struct routing *r)
{
    for (size_t i = 0; i < r->n_targets; i++)
        if (is_of(v, r->targets[i]))
            return r->targets[i];
    return NULL;
}

void fan_out_set_routing(struct fan_out *f, struct routing *routing)
{
    pthread_mutex_lock(&f->lock);

    struct routing *before = f->routing;

    f->routing = routing_ref(routing);
    for (size_t i = 0; i < routing->n_targets; i++)
        (void)find_version(f, routing->targets[i]);
    for (struct version *v = f->versions; v != NULL; v = v->next)
        if (target_of(v, routing) == NULL) {
            leave_out(v);
            v->n_waiting = 0;
        }
    f->wake = true;
    pthread_cond_signal(&f->woken);
    pthread_mutex_unlock(&f->lock);
    routing_unref(before);
}

/* ---- putting ---- */

static void note_put(struct fan_out *f, const struct target *t, int64_t now_ms)
{
    pthread_mutex_lock(&f->lock);

    struct version *v = find_version(f, t);

    enter(&v->waiting, t);
    v->puts++;
    if (v->oldest_ms > now_ms)
        v->oldest_ms = now_ms;
    f->wake = true;
    pthread_cond_signal(&f->woken);
    pthread_mutex_unlock(&f->lock);
}

static struct str place_name(struct arena *a, const struct plan *p, size_t place)
{
    struct buf name = {0};
    struct str database, table;
    bool refresh;

    plan_place(p, place, &database, &table, &refresh);
    buf_printf(&name, "%" STR_FMT ".%" STR_FMT, STR_ARG(database), STR_ARG(table));

    const struct str copy = arena_copy(a, buf_str(&name));

    buf_free(&name);
    return copy;
}

/* It looks by itself after a while, where it runs elsewhere. */
static void wake_owner(struct fan_out *f, const struct target *t)
{
    struct peer owner;

    if (!peers_find(f->opt.peers, str_from(t->topic), &owner))
        return;
    fan_out_wake(owner.fan_out);
    server_access_unref(owner.server);
}

bool fan_out_put(struct fan_out *f, const struct fan_out_rows *rows, struct err *err)
{
    const struct reading *reading = rows->target->plan;
    const int64_t now_ms = clock_wall_ms();
    struct arena *a = arena_new();
    struct stored_fan_out *jobs = arena_alloc(a, rows->n, sizeof(*jobs));
    const struct str table = place_name(a, reading->plan, rows->place);

    for (size_t i = 0; i < rows->n; i++)
        jobs[i] = (struct stored_fan_out){.topic = str_from(rows->target->topic),
                                          .index = str_from(reading->alias),
                                          .version = reading->number,
                                          .member = str_from(rows->target->table),
                                          .place = (uint32_t)rows->place,
                                          .by_row = rows->by_row,
                                          .table = table,
                                          .key = rows->keys[i],
                                          .source = f->owner.topic,
                                          .at_least = rows->at_least,
                                          .created_ms = now_ms};

    const bool ok = store_put_fan_outs(f->opt.store, f->owner.term, jobs, rows->n, err);

    arena_free(a);
    if (!ok)
        return err_wrap(err, "storing what is to be read again of %s", rows->target->table);
    count(&f->status.put, rows->n);
    if (str_equal(str_from(rows->target->topic), f->owner.topic))
        note_put(f, rows->target, now_ms);
    else
        wake_owner(f, rows->target);
    return true;
}

void fan_out_wake(struct fan_out *f)
{
    pthread_mutex_lock(&f->lock);
    for (struct version *v = f->versions; v != NULL; v = v->next)
        v->puts++;
    f->wake = true;
    pthread_cond_signal(&f->woken);
    pthread_mutex_unlock(&f->lock);
}

/* ---- looking for jobs ---- */

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

static bool is_foreign(const struct fan_out *f, const struct stored_fan_out *job)
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
        if (!is_foreign(v->f, &jobs[i]) || (!rests && is_run_read(v->f, jobs, n, i)))
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
        leave_out(v);
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
        leave_out(v);
    pthread_mutex_unlock(&v->f->lock);
}

/* Whatever waited is what runs now. */
static void note_begin(struct version *v)
{
    pthread_mutex_lock(&v->f->lock);
    enter(&v->waiting, v->target);
    leave(&v->running);
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
                                  together[n_together - 1].id,
                                  highest_of(together, n_together), 0, clock_wall_ms(), err);
    }
    if (*waits) {
        note_wait(v);
    } else if (ok) {
        fan_out_run_begin(&v->run, run, is_foreign(f, &together[0]), together, n_together);
        note_begin(v);
    }
    free(together);
    return ok;
}

/* *waits: there are jobs, which cannot begin yet. */
static bool look(struct version *v, bool *waits, struct err *err)
{
    struct fan_out *f = v->f;
    struct arena *a = arena_new();
    struct stored_fan_out *jobs = NULL;
    size_t n = 0;

    pthread_mutex_lock(&f->lock);

    const uint64_t puts = v->puts;

    pthread_mutex_unlock(&f->lock);

    bool ok = store_load_fan_outs(f->opt.store, a, str_from(v->alias), v->number,
                                  str_from(v->member), LOAD_MAX,
                                  &jobs, &n, err);

    if (ok) {
        note_look(v, jobs, n, puts);
        n = leave_away(v, jobs, n);
        v->look_ms = clock_mono_ms() + (f->settled ? LOOK_MS : POLL_MS);
        *waits = !f->settled;
    }
    if (ok && n == 0)
        note_wait(v);
    ok = ok && (n == 0 || begin(v, jobs, n, waits, err));
    arena_free(a);
    return ok;
}

/* ---- working off ---- */

static void tell_progress(struct version *v)
{
    const struct fan_out_run *r = &v->run;

    pthread_mutex_lock(&v->f->lock);
    v->progress = (struct fan_out_progress){.run = r->number,
                                            .documents = r->documents,
                                            .known = r->n_roots - r->n_done,
                                            .all_known = r->pages.end};
    pthread_mutex_unlock(&v->f->lock);
}

static bool end_run(struct version *v, struct err *err)
{
    struct fan_out *f = v->f;

    if (!store_end_fan_outs(f->opt.store, &f->owner, v->run.number, clock_wall_ms(), err))
        return false;
    fan_out_run_forget(&v->run);
    count(&f->status.runs, 1);
    v->look_ms = 0;
    pthread_mutex_lock(&f->lock);
    leave(&v->running);
    pthread_mutex_unlock(&f->lock);
    return true;
}

static bool acknowledge(struct version *v, struct err *err)
{
    struct fan_out *f = v->f;
    const size_t n = v->run.n_out;
    const struct str cursor = fan_out_run_acknowledge(&v->run, clock_mono_ms());

    count(&f->status.documents, n);
    return store_save_fan_outs(f->opt.store, &f->owner, v->run.number, cursor, v->run.documents,
                               clock_wall_ms(), err);
}

/* One step of its run: *again when another one can follow at once. */
static bool step(struct version *v, bool *again, struct err *err)
{
    struct fan_out *f = v->f;
    struct fan_out_run *r = &v->run;

    switch (fan_out_run_slice(r)) {
    case SLICE_OUT: *again = false; return true;
    case SLICE_UNDONE:
        *again = false;
        fan_out_run_forget(r); /* it goes on from the store's cursor */
        v->retry_ms = clock_mono_ms() + RETRY_MS;
        return true;
    case SLICE_DONE: return acknowledge(v, err);
    case SLICE_NONE: break;
    }
    if (__atomic_load_n(&f->resting, __ATOMIC_RELAXED)) {
        *again = false;
        return true;
    }
    if (fan_out_run_is_over(r))
        return end_run(v, err);
    if (r->foreign && !f->settled) {
        *again = false;
        return true;
    }
    if (fan_out_run_needs_page(r))
        return fan_out_run_read_page(r, v->target, &f->links, f->opt.page, err);

    const struct fan_out_way way = {.delivery = f->opt.delivery,
                                    .stop = &f->stop,
                                    .max = f->opt.slice,
                                    .read = read_position_version(f->opt.reader)};

    return fan_out_run_submit(r, v->target, &way, err);
}

static bool advance(struct version *v, bool *again, bool *waits, struct err *err)
{
    bool ok = true;

    *again = v->run.number != 0;
    *waits = fan_out_run_slice(&v->run) == SLICE_OUT || (v->run.foreign && !v->f->settled);
    if (v->run.number != 0) {
        ok = step(v, again, err);
    } else if (!__atomic_load_n(&v->f->resting, __ATOMIC_RELAXED)) {
        ok = look(v, waits, err);
        *again = ok && v->run.number != 0;
    }
    tell_progress(v);
    return ok;
}

static void give_up(struct version *v, const struct err *why)
{
    struct fan_out *f = v->f;

    if (why->kind == ERR_STOP) {
        f->fenced = !stop_is_set(&f->stop);
        if (f->fenced)
            log_failure(LOG_ERROR, why, "another node works off fan-out jobs now",
                        KV("topic", f->opt.topic));
        return;
    }
    count(&f->status.failures, 1);
    log_failure(LOG_WARN, why,
                "documents of a related row could not be read again, trying again",
                KV("topic", f->opt.topic), KV("index", (const char *)v->index));
    if (v->run.number != 0 && v->run.foreign)
        v->foreign_ms = clock_mono_ms() + FOREIGN_MS;
    fan_out_run_forget(&v->run);
    tell_progress(v);
    v->retry_ms = clock_mono_ms() + (v->target->abroad ? FOREIGN_MS : RETRY_MS);
}

static bool is_due(struct version *v, int64_t now_ms)
{
    struct fan_out *f = v->f;

    pthread_mutex_lock(&f->lock);

    const bool is_new = v->puts != v->seen;

    pthread_mutex_unlock(&f->lock);
    return now_ms >= v->retry_ms && (v->run.number != 0 || is_new || now_ms >= v->look_ms);
}

/* How long nothing can be done for it, in ms. */
static int64_t turn(struct version *v, struct target *t)
{
    bool again = true, waits = false;
    struct err err = {0};

    v->target = t;
    if (!is_due(v, clock_mono_ms()))
        return LOOK_MS;
    if (!advance(v, &again, &waits, &err)) {
        give_up(v, &err);
        return RETRY_MS;
    }
    return again ? 0 : waits ? POLL_MS : LOOK_MS;
}

/* NULL: it stopped. */
static struct version *version_of(struct fan_out *f, const struct target *t)
{
    pthread_mutex_lock(&f->lock);

    struct version *v = find_version(f, t);

    if (is_stopped(t)) {
        leave_out(v);
        v = NULL;
    }
    pthread_mutex_unlock(&f->lock);
    return v;
}

static struct routing *present_routing(struct fan_out *f)
{
    pthread_mutex_lock(&f->lock);

    struct routing *r = f->routing == NULL ? NULL : routing_ref(f->routing);

    pthread_mutex_unlock(&f->lock);
    return r;
}

/* Whether it is settled is asked first: the routing is that one then, or a later one. */
static int64_t turn_all(struct fan_out *f)
{
    f->settled = f->opt.is_settled == NULL || f->opt.is_settled(f->opt.ctx);

    struct routing *r = present_routing(f);
    int64_t pause_ms = LOOK_MS;

    for (size_t i = 0; r != NULL && i < r->n_targets && !f->fenced; i++) {
        struct target *t = r->targets[i];
        struct version *v = version_of(f, t);

        if (stop_is_set(&f->stop) || v == NULL)
            continue;

        const int64_t ms = turn(v, t);

        pause_ms = ms < pause_ms ? ms : pause_ms;
    }
    routing_unref(r);
    return pause_ms;
}

static void rest(struct fan_out *f, int64_t ms)
{
    const int64_t ns = clock_mono_ns() + ms * 1000000LL;
    const struct timespec until = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    pthread_mutex_lock(&f->lock);
    if (!f->wake && ms > 0 && !stop_is_set(&f->stop))
        (void)pthread_cond_timedwait(&f->woken, &f->lock, &until);
    f->wake = false;
    pthread_mutex_unlock(&f->lock);
}

static void *fan_out_main(void *arg)
{
    struct fan_out *f = arg;

    while (!stop_is_set(&f->stop))
        rest(f, turn_all(f));
    read_links_fini(&f->links);
    return NULL;
}

/* ---- life ---- */

struct fan_out *fan_out_new(const struct fan_out_options *opt)
{
    struct fan_out *f = mem_alloc(1, sizeof(*f));
    pthread_condattr_t attr;

    f->opt = *opt;
    if (f->opt.page == 0)
        f->opt.page = 10000;
    if (f->opt.slice == 0)
        f->opt.slice = 1000;
    f->owner = (struct fan_out_owner){str_from(opt->topic), opt->term};
    stop_init(&f->stop);
    f->links = (struct read_links){.own.opt = {.topic = opt->topic,
                                               .primary = opt->server,
                                               .known = opt->known,
                                               .reader = opt->reader,
                                               .stop = &f->stop,
                                               .timeout_ms = VIEW_TIMEOUT_MS,
                                               .statements = &f->status.statements},
                                   .peers = opt->peers};
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&f->woken, &attr);
    pthread_condattr_destroy(&attr);
    return f;
}

void fan_out_start(struct fan_out *f)
{
    f->started = true;
    f->thread = thread_start("fan-out", fan_out_main, f);
}

void fan_out_rest(struct fan_out *f)
{
    __atomic_store_n(&f->resting, true, __ATOMIC_RELAXED);
}

void fan_out_stop(struct fan_out *f)
{
    stop_set(&f->stop);
    wake_up(f);
    if (f->started)
        pthread_join(f->thread, NULL);
    f->started = false;
}

void fan_out_free(struct fan_out *f)
{
    if (f == NULL)
        return;
    for (struct version *v = f->versions, *next; v != NULL; v = next) {
        next = v->next;
        fan_out_run_fini(&v->run);
        free(v->index);
        free(v->member);
        free(v->alias);
        free(v);
    }
    routing_unref(f->routing);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->woken);
    stop_fini(&f->stop);
    free(f);
}

/* ---- what others ask ---- */

int64_t fan_out_oldest_ms(struct fan_out *f, struct str index)
{
    int64_t oldest_ms = INT64_MAX;
    bool any = false, all = true;

    pthread_mutex_lock(&f->lock);
    for (const struct version *v = f->versions; v != NULL; v = v->next) {
        if (!str_equal(str_from(v->index), index))
            continue;
        any = true;
        all = all && v->looked && v->puts == v->seen;
        if (v->oldest_ms < oldest_ms)
            oldest_ms = v->oldest_ms;
    }
    pthread_mutex_unlock(&f->lock);
    return any && all ? oldest_ms : 0;
}

struct fan_out_status fan_out_status(struct fan_out *f)
{
    struct fan_out_status s = {
        .put = __atomic_load_n(&f->status.put, __ATOMIC_RELAXED),
        .runs = __atomic_load_n(&f->status.runs, __ATOMIC_RELAXED),
        .documents = __atomic_load_n(&f->status.documents, __ATOMIC_RELAXED),
        .failures = __atomic_load_n(&f->status.failures, __ATOMIC_RELAXED),
        .statements = __atomic_load_n(&f->status.statements, __ATOMIC_RELAXED),
    };

    pthread_mutex_lock(&f->lock);
    for (const struct version *v = f->versions; v != NULL; v = v->next)
        s.waiting += v->n_waiting;
    pthread_mutex_unlock(&f->lock);
    return s;
}

struct fan_out_progress fan_out_progress(struct fan_out *f, struct str alias, uint64_t number)
{
    struct fan_out_progress p = {0};

    pthread_mutex_lock(&f->lock);
    for (const struct version *v = f->versions; v != NULL; v = v->next)
        if (str_equal(str_from(v->alias), alias) && v->number == number) {
            const uint64_t waiting = p.rows + v->n_waiting;

            if (p.run == 0)
                p = v->progress;
            p.rows = waiting;
        }
    pthread_mutex_unlock(&f->lock);
    return p;
}
