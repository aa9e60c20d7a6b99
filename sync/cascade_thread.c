#include "config.h"

#include "sync/cascade_parts.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/search.h"
#include "sync/read_position.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REST_MS    1000
#define RETRY_MS   500
#define REST_AT_MS 12000 /* a stream that stands for so long is at rest */

/* ---- batches ---- */

void cascades_drop(struct cascades *c, struct cascade_rows *r)
{
    pthread_mutex_lock(&c->lock);
    cascades_count(c, 0, r->cost);
    c->pending--;
    pthread_cond_broadcast(&c->freed);
    pthread_mutex_unlock(&c->lock);
    cascade_rows_free(r);
}

/* Nothing is written to it any more, or its table has stopped. */
static bool is_given_up(struct cascades *c, const struct cascade_rows *r)
{
    const struct target *target = cascade_rows_target(r);
    bool followed = false;

    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->routing->n_targets && !followed; i++)
        followed = strcmp(c->routing->targets[i]->index, target->index) == 0;
    pthread_mutex_unlock(&c->lock);
    return !followed ||
           __atomic_load_n(&((struct reading *)target->plan)->stopped, __ATOMIC_RELAXED);
}

/* The engine says no, and will say it again. */
static bool is_refused(const struct err *err)
{
    return err->kind == ERR_REJECT && err->code != 401 && err->code != 404;
}

static void put_off(struct cascades *c, struct following *f, const struct err *err)
{
    f->retry_ms = clock_mono_ms() + RETRY_MS;
    if (err->kind != ERR_STOP)
        log_failure(LOG_WARN, err,
                    "rows that foreign keys changed could not be looked up, trying again",
                    KV("topic", c->opt.topic), KV("index", (const char *)f->index));
}

/* False: not now (err). */
static bool try_rows(struct cascades *c, struct following *f, struct cascade_rows *r,
                     struct err *err)
{
    if (is_given_up(c, r)) {
        cascade_rows_give_up(r, OUTCOME_DEFERRED);
        return true;
    }
    if (cascades_run_rows(c, f, r, err))
        return true;
    if (!is_refused(err))
        return false;
    cascades_mark(c, cascade_rows_target(r), err->msg);
    (void)cascade_rows_ticket(r);
    cascade_rows_end(r);
    return true;
}

static bool refresh(struct cascades *c, struct following *f, const struct cascade_rows *r,
                    struct err *err)
{
    buf_clear(&f->mapping); /* fields may have come since the last time */
    return is_given_up(c, r) || search_refresh(c->opt.search, str_from(f->index), err) ||
           is_refused(err); /* so is the search, which says so */
}

static void run_batch(struct cascades *c, struct following *f)
{
    struct err err = {0};
    bool ok = refresh(c, f, f->batch, &err);

    while (ok && f->batch != NULL && !stop_is_set(&c->stop)) {
        struct cascade_rows *r = f->batch;

        ok = try_rows(c, f, r, &err);
        if (ok) {
            f->batch = r->next;
            cascades_drop(c, r);
        }
    }
    if (!ok)
        put_off(c, f, &err);
}

/* Whatever was begun for the index before now is over; false: stopping, or given up. */
static bool wait_until_clear(struct cascades *c, struct following *f,
                             const struct cascade_rows *r)
{
    for (bool turned = false;;) {
        const bool clear = turnstile_is_clear(&f->turnstile);

        if (clear && turned)
            return true;
        if (clear)
            turned = turnstile_turn(&f->turnstile, r->from.at_least);
        else if (stop_wait(&c->stop, CASCADE_POLL_MS) || is_given_up(c, r))
            return false;
    }
}

bool cascades_follow_now(struct cascades *c, struct cascade_rows *r)
{
    pthread_mutex_lock(&c->lock);

    struct following *f = cascades_following(c, str_from(cascade_rows_target(r)->index));

    pthread_mutex_unlock(&c->lock);
    for (bool done = false; !done && !stop_is_set(&c->stop);) {
        struct err err = {0};

        (void)wait_until_clear(c, f, r);
        done = !stop_is_set(&c->stop) && refresh(c, f, r, &err) && try_rows(c, f, r, &err);
        if (!done && !stop_is_set(&c->stop)) {
            put_off(c, f, &err);
            stop_wait(&c->stop, RETRY_MS);
        }
    }
    cascade_rows_free(r);
    return !stop_is_set(&c->stop);
}

/* Where the stream has come to; far beyond when it is at rest. */
static uint64_t look_at_stream(struct cascades *c)
{
    const uint64_t now = read_position_version(c->opt.reader);

    if (now != c->stream) {
        c->stream = now;
        c->stream_ms = clock_mono_ms();
    }
    return clock_mono_ms() - c->stream_ms > REST_AT_MS ? UINT64_MAX : now;
}

/* Under the lock. */
static void take_later(struct following *f, uint64_t stream)
{
    for (struct cascade_rows **at = &f->later; *at != NULL;) {
        struct cascade_rows *r = *at;

        if (stream < r->from.at_least - 1) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        cascades_append(f, r);
    }
}

static void take_batch(struct cascades *c, struct following *f)
{
    const uint64_t stream = look_at_stream(c);

    pthread_mutex_lock(&c->lock);
    take_later(f, stream);
    f->batch = f->first;
    f->turned = false;
    f->first = NULL;
    f->last = &f->first;
    pthread_mutex_unlock(&c->lock);
}

static uint64_t highest(const struct cascade_rows *batch)
{
    uint64_t version = 0;

    for (const struct cascade_rows *r = batch; r != NULL; r = r->next)
        if (r->from.at_least > version)
            version = r->from.at_least;
    return version;
}

/* False: it waits. */
static bool advance(struct cascades *c, struct following *f)
{
    if (clock_mono_ms() < f->retry_ms)
        return false;
    if (!f->turned && turnstile_is_clear(&f->turnstile))
        f->turned = turnstile_turn(&f->turnstile, highest(f->batch));
    if (!f->turned || !turnstile_is_clear(&f->turnstile))
        return false;
    run_batch(c, f);
    return true;
}

static struct following *next_following(struct cascades *c, const struct following *f)
{
    pthread_mutex_lock(&c->lock);

    struct following *next = f == NULL ? c->all : f->next;

    pthread_mutex_unlock(&c->lock);
    return next;
}

static bool waits_later(struct cascades *c, const struct following *f)
{
    pthread_mutex_lock(&c->lock);

    const bool waits = f->later != NULL;

    pthread_mutex_unlock(&c->lock);
    return waits;
}

/* Rows that come wake it. */
static void rest(struct cascades *c, bool waits)
{
    const int64_t ns = clock_mono_ns() + (waits ? CASCADE_POLL_MS : REST_MS) * 1000000LL;
    const struct timespec until = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    pthread_mutex_lock(&c->lock);
    if ((waits || c->pending == 0) && !stop_is_set(&c->stop))
        (void)pthread_cond_timedwait(&c->added, &c->lock, &until);
    pthread_mutex_unlock(&c->lock);
}

static void *cascades_main(void *arg)
{
    struct cascades *c = arg;

    while (!stop_is_set(&c->stop)) {
        bool waits = false, ran = false;

        for (struct following *f = next_following(c, NULL); f != NULL;
             f = next_following(c, f)) {
            if (f->batch == NULL)
                take_batch(c, f);
            waits = waits || f->batch != NULL || waits_later(c, f);
            ran = (f->batch != NULL && advance(c, f)) || ran;
        }
        if (!ran)
            rest(c, waits);
    }
    return NULL;
}

void cascades_start(struct cascades *c)
{
    c->started = true;
    c->thread = thread_start("cascade", cascades_main, c);
}

/* ---- life ---- */

static void init_cond(pthread_cond_t *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

struct cascades *cascades_new(const struct cascades_options *opt)
{
    struct cascades *c = mem_alloc(1, sizeof(*c));

    c->opt = *opt;
    stop_init(&c->stop);
    pthread_mutex_init(&c->lock, NULL);
    init_cond(&c->added);
    init_cond(&c->freed);
    c->indexes = map_new();
    return c;
}

void cascades_stop(struct cascades *c)
{
    stop_set(&c->stop);
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->added);
    pthread_cond_broadcast(&c->freed);
    pthread_mutex_unlock(&c->lock);
    if (c->started)
        pthread_join(c->thread, NULL);
    c->started = false;
}

static void drop_all(struct cascades *c, struct cascade_rows *r)
{
    while (r != NULL) {
        struct cascade_rows *next = r->next;

        cascades_drop(c, r);
        r = next;
    }
}

void cascades_free(struct cascades *c)
{
    struct str key;
    void *value;

    if (c == NULL)
        return;
    for (size_t i = 0; map_next(c->indexes, &i, &key, &value);) {
        struct following *f = value;

        drop_all(c, f->batch);
        drop_all(c, f->first);
        drop_all(c, f->later);
        buf_free(&f->mapping);
        free(f->index);
        free(f);
    }
    map_free(c->indexes, NULL);
    routing_unref(c->routing);
    pthread_cond_destroy(&c->added);
    pthread_cond_destroy(&c->freed);
    pthread_mutex_destroy(&c->lock);
    stop_fini(&c->stop);
    free(c);
}
