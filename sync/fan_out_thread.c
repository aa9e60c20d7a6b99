#include "config.h"

#include "sync/fan_out_parts.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/denied.h"
#include "sync/patience.h"
#include "sync/read_position.h"
#include "sync/routing.h"

#include <stdlib.h>
#include <time.h>

#define VIEW_TIMEOUT_MS 10000
#define RETRY_MS        500
#define FOREIGN_MS      2000

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

    FAILPOINT(fan_out_over);
    if (!store_end_fan_outs(f->opt.store, &f->owner, v->run.number, clock_wall_ms(), err))
        return false;
    fan_out_run_forget(&v->run);
    fan_out_count(&f->status.runs, 1);
    v->look_ms = 0;
    pthread_mutex_lock(&f->lock);
    fan_out_leave(&v->running);
    pthread_mutex_unlock(&f->lock);
    return true;
}

static bool acknowledge(struct version *v, struct err *err)
{
    struct fan_out *f = v->f;
    const size_t n = v->run.n_out;
    const struct str cursor = fan_out_run_acknowledge(&v->run, clock_mono_ms());

    fan_out_count(&f->status.documents, n);
    FAILPOINT(fan_out_acknowledged);

    const bool ok = store_save_fan_outs(f->opt.store, &f->owner, v->run.number, cursor,
                                        v->run.documents, clock_wall_ms(), err);

    FAILPOINT(fan_out_moved);
    return ok;
}

/* A page may take very long to sort; it is interrupted where a server does not answer. */
static bool read_page(struct version *v, struct err *err)
{
    struct fan_out *f = v->f;

    patience_begin(f->patience);

    const bool ok = fan_out_run_read_page(&v->run, v->target, &f->links, f->opt.page, err);

    if (patience_end(f->patience)) {
        read_links_close(&f->links);
        if (!ok && !stop_is_set(&f->stop))
            err_set(err, ERR_RETRY, "a server that documents are looked for at does not answer");
    }
    FAILPOINT(fan_out_paged);
    denied_tell(f->opt.denied, v->index, DENIED_ROOTS, ok ? NULL : err);
    return ok;
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
        return read_page(v, err);

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
        ok = fan_out_look(v, waits, err);
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
    fan_out_count(&f->status.failures, 1);
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
        return FAN_OUT_LOOK_MS;
    if (!advance(v, &again, &waits, &err)) {
        give_up(v, &err);
        return RETRY_MS;
    }
    return again ? 0 : waits ? FAN_OUT_POLL_MS : FAN_OUT_LOOK_MS;
}

static bool is_stopped(const struct target *t)
{
    return __atomic_load_n(&((const struct reading *)t->plan)->stopped, __ATOMIC_RELAXED);
}

/* NULL: it stopped. */
static struct version *version_of(struct fan_out *f, const struct target *t)
{
    pthread_mutex_lock(&f->lock);

    struct version *v = fan_out_version(f, t);

    if (is_stopped(t)) {
        fan_out_leave_out(v);
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
    int64_t pause_ms = FAN_OUT_LOOK_MS;

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
    f->patience = patience_new(&(struct patience_options){0});
    f->links = (struct read_links){.own.opt = {.topic = opt->topic,
                                               .primary = opt->server,
                                               .known = opt->known,
                                               .reader = opt->reader,
                                               .stop = &f->stop,
                                               .timeout_ms = VIEW_TIMEOUT_MS,
                                               .patience = f->patience,
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
    patience_start(f->patience);
    f->thread = thread_start("fan-out", fan_out_main, f);
}

void fan_out_rest(struct fan_out *f)
{
    __atomic_store_n(&f->resting, true, __ATOMIC_RELAXED);
}

void fan_out_stop(struct fan_out *f)
{
    stop_set(&f->stop);
    fan_out_wake_up(f);
    patience_stop(f->patience);
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
    patience_free(f->patience);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->woken);
    stop_fini(&f->stop);
    free(f);
}
