#include "config.h"

#include "sync/related/fan_out/parts.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"
#include "sync/read/access_denied.h"
#include "sync/read/stall_watchdog.h"
#include "sync/related/fan_out/jobs.h"
#include "sync/routing/routing.h"

#include <stdlib.h>

#define VIEW_TIMEOUT_MS 10000
#define RETRY_MS        500
#define FOREIGN_MS      2000

static void tell_progress(struct version *v)
{
    const struct fan_out_run *r = &v->run;

    lock_acquire(&v->f->lock);
    v->progress = (struct fan_out_progress){.run = r->number,
                                            .documents = r->documents,
                                            .known = r->n_roots - r->n_done,
                                            .all_known = r->pages.end};
    lock_release(&v->f->lock);
}

static int64_t once_more_ms(const struct version *v, int64_t now_ms)
{
    const struct fan_out *f = v->f;
    const int64_t late_ms =
        DELIVERY_COPY_TIMEOUTS * (int64_t)delivery_get(f->opt.delivery).request_timeout_ms;

    return fan_out_jobs_once_more_ms(v->run.foreign, f->since_ms + late_ms - clock_mono_ms(),
                                     now_ms);
}

static void say_saves(const struct fan_out *f)
{
    if (f->opt.saves != NULL)
        f->opt.saves(f->opt.ctx);
}

static bool end_run(struct version *v, struct err *err)
{
    struct fan_out *f = v->f;
    const int64_t now_ms = clock_wall_ms();

    FAILPOINT(fan_out_over);
    say_saves(f);
    if (!store_end_fan_outs(f->opt.store, &f->owner, v->run.number, once_more_ms(v, now_ms),
                            now_ms, err))
        return false;
    fan_out_run_forget(&v->run);
    fan_out_count(&f->status.runs, 1);
    v->look_ms = 0;
    lock_acquire(&f->lock);
    fan_out_leave(&v->running);
    lock_release(&f->lock);
    return true;
}

/* Documents that delivery has written for the topic's present versions. */
static uint64_t written(struct fan_out *f)
{
    uint64_t n = 0;

    lock_acquire(&f->lock);
    for (size_t i = 0; f->routing != NULL && i < f->routing->n_targets; i++) {
        const struct target_counters *c = &f->routing->targets[i]->count;

        n += __atomic_load_n(&c->indexed, __ATOMIC_RELAXED) +
             __atomic_load_n(&c->deleted, __ATOMIC_RELAXED) +
             __atomic_load_n(&c->superseded, __ATOMIC_RELAXED);
    }
    lock_release(&f->lock);
    return n;
}

static struct fan_out_way way_of(struct fan_out *f)
{
    return (struct fan_out_way){.delivery = f->opt.delivery,
                                .stop = &f->stop,
                                .max = f->opt.slice,
                                .read = read_position_version(f->opt.reader),
                                .written = written(f),
                                .share = __atomic_load_n(&f->share, __ATOMIC_RELAXED)};
}

static bool acknowledge(struct version *v, struct err *err)
{
    struct fan_out *f = v->f;
    const size_t n = v->run.n_out;
    const struct fan_out_way way = way_of(f);
    const struct str cursor = fan_out_run_acknowledge(&v->run, &way, clock_mono_ms());

    fan_out_count(&f->status.documents, n);
    FAILPOINT(fan_out_acknowledged);
    say_saves(f);

    const bool ok = store_save_fan_outs(f->opt.store, &f->owner, v->run.number, cursor,
                                        v->run.documents, clock_wall_ms(), err);

    FAILPOINT(fan_out_moved);
    return ok;
}

/*
 * Sorting a page may take very long.  The watchdog interrupts the read only if a server stops
 * answering.
 */
static bool read_page(struct version *v, struct err *err)
{
    struct fan_out *f = v->f;

    stall_watchdog_begin(f->watchdog);

    const bool ok = fan_out_run_read_page(&v->run, v->target, &f->links, f->opt.page, err);

    if (stall_watchdog_end(f->watchdog)) {
        read_links_close(&f->links);
        if (!ok && !stop_is_set(&f->stop))
            err_set(err, ERR_RETRY,
                    "a server where Millrace looks for documents does not answer");
    }
    FAILPOINT(fan_out_paged);
    access_denied_tell(f->opt.denied, v->index, ACCESS_DENIED_ROOTS, ok ? NULL : err);
    return ok;
}

/* Do one step of the run.  Sets *again if another step can follow at once. */
static bool step(struct version *v, bool *again, struct err *err)
{
    struct fan_out *f = v->f;
    struct fan_out_run *r = &v->run;

    switch (fan_out_run_slice(r)) {
    case SLICE_OUT: *again = false; return true;
    case SLICE_UNDONE:
        *again = false;
        fan_out_run_forget(r); /* starts again from the store's cursor */
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

    const struct fan_out_way way = way_of(f);

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
            log_failure(LOG_ERROR, why, "another node runs fan-out jobs now",
                        KV("topic", f->opt.topic));
        return;
    }
    fan_out_count(&f->status.failures, 1);
    log_failure(LOG_WARN, why, "could not read documents of a related row again, trying again",
                KV("topic", f->opt.topic), KV("index", (const char *)v->index));
    if (v->run.number != 0 && v->run.foreign)
        v->foreign_ms = clock_mono_ms() + FOREIGN_MS;
    fan_out_run_forget(&v->run);
    tell_progress(v);
    v->retry_ms = clock_mono_ms() + (v->target->cross_topic ? FOREIGN_MS : RETRY_MS);
}

/* 0: now. */
static int64_t due_in_ms(struct version *v, int64_t now_ms)
{
    struct fan_out *f = v->f;

    lock_acquire(&f->lock);

    const bool is_new = v->puts != v->seen;

    lock_release(&f->lock);

    const int64_t at_ms =
        v->run.number != 0 || is_new || v->look_ms < v->retry_ms ? v->retry_ms : v->look_ms;

    return at_ms > now_ms ? at_ms - now_ms : 0;
}

/* Returns for how many ms nothing can be done for the version. */
static int64_t turn(struct version *v, struct target *t)
{
    bool again = true, waits = false;
    struct err err = {0};

    v->target = t;

    const int64_t due_ms = due_in_ms(v, clock_mono_ms());

    if (due_ms > 0)
        return due_ms;
    if (!advance(v, &again, &waits, &err)) {
        give_up(v, &err);
        return RETRY_MS;
    }
    if (again)
        return 0;

    const int64_t left_ms = due_in_ms(v, clock_mono_ms());

    return waits || left_ms < FAN_OUT_POLL_MS ? FAN_OUT_POLL_MS : left_ms;
}

static bool is_stopped(const struct target *t)
{
    return __atomic_load_n(&((const struct reading *)t->plan)->stopped, __ATOMIC_RELAXED);
}

/* Returns NULL if the table stopped. */
static struct version *version_of(struct fan_out *f, const struct target *t)
{
    lock_acquire(&f->lock);

    struct version *v = fan_out_version(f, t);

    if (is_stopped(t)) {
        fan_out_leave_out(v);
        v = NULL;
    }
    lock_release(&f->lock);
    return v;
}

static struct routing *present_routing(struct fan_out *f)
{
    lock_acquire(&f->lock);

    struct routing *r = f->routing == NULL ? NULL : routing_ref(f->routing);

    lock_release(&f->lock);
    return r;
}

/* Ask is_settled() first: the routing fetched then is the settled one, or a later one. */
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

static void *fan_out_main(void *arg)
{
    struct fan_out *f = MAGIC_CAST(fan_out, arg);

    while (!stop_is_set(&f->stop))
        bell_wait(f->bell, turn_all(f)); /* who stops it rings, too */
    read_links_fini(&f->links);
    return NULL;
}

/* ---- life ---- */

struct fan_out *fan_out_new(const struct fan_out_options *opt)
{
    struct fan_out *f = mem_alloc(1, sizeof(*f));

    f->magic = MAGIC_fan_out;
    f->opt = *opt;
    if (f->opt.page == 0)
        f->opt.page = 10000;
    if (f->opt.slice == 0)
        f->opt.slice = f->opt.page;
    f->share = f->opt.share == 0 ? 20 : f->opt.share;
    f->owner = (struct fan_out_owner){str_from(opt->topic), opt->term};
    stop_init(&f->stop);
    f->watchdog = stall_watchdog_new(&(struct stall_watchdog_options){0});
    f->links = (struct read_links){.own.opt = {.topic = opt->topic,
                                               .primary = opt->server,
                                               .known = opt->known,
                                               .reader = opt->reader,
                                               .stop = &f->stop,
                                               .timeout_ms = VIEW_TIMEOUT_MS,
                                               .watchdog = f->watchdog,
                                               .statements = &f->status.statements},
                                   .registry = opt->registry};
    lock_init(&f->lock, LOCK_private);
    f->bell = bell_new();
    return f;
}

void fan_out_start(struct fan_out *f)
{
    f->started = true;
    f->since_ms = clock_mono_ms();
    stall_watchdog_start(f->watchdog);
    f->thread = thread_start("fan-out", fan_out_main, f);
}

void fan_out_set_share(struct fan_out *f, unsigned percent)
{
    __atomic_store_n(&f->share, percent, __ATOMIC_RELAXED);
}

void fan_out_rest(struct fan_out *f)
{
    __atomic_store_n(&f->resting, true, __ATOMIC_RELAXED);
}

void fan_out_stop(struct fan_out *f)
{
    stop_set(&f->stop);
    bell_ring(f->bell);
    stall_watchdog_stop(f->watchdog);
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
    stall_watchdog_free(f->watchdog);
    lock_fini(&f->lock);
    bell_unref(f->bell);
    stop_fini(&f->stop);
    MAGIC_END(fan_out, f);
    free(f);
}
