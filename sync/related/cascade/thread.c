#include "config.h"

#include "sync/related/cascade/parts.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/search/search.h"

#include <stdlib.h>
#include <string.h>

#define REST_MS  300000 /* whatever comes ends it */
#define RETRY_MS 500

/* ---- batches ---- */

/* The engine refuses, and would refuse again. */
static bool is_refused(const struct err *err)
{
    return err->kind == ERR_REJECT && err->code != 401 && err->code != 404;
}

static void put_off(struct cascades *c, struct following *f, const struct err *err)
{
    f->retry_ms = clock_mono_ms() + RETRY_MS;
    if (err->kind != ERR_STOP)
        log_failure(LOG_WARN, err,
                    "could not look up rows that foreign keys changed, trying again",
                    KV("topic", c->opt.topic), KV("index", (const char *)f->index));
}

/* Returns false with err to try again later. */
static bool try_rows(struct cascades *c, struct following *f, struct cascade_rows *r,
                     struct err *err)
{
    if (cascades_is_given_up(c, cascade_rows_target(r))) {
        cascades_mark_below(c, cascade_rows_target(r));
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
    buf_clear(&f->mapping); /* the index may have new fields */
    return cascades_is_given_up(c, cascade_rows_target(r)) ||
           search_refresh(c->opt.search, str_from(f->index), err) ||
           is_refused(err); /* the search will be refused as well, and reports it */
}

/*
 * Before the refresh: a row that another node writes to a version after it is found by the
 * search that is kept.
 */
static bool keep(struct cascades *c, struct following *f, struct err *err)
{
    for (struct cascade_rows *r = f->batch; c->opt.keeps && r != NULL; r = r->next)
        if (!r->kept && !cascades_is_given_up(c, cascade_rows_target(r)) &&
            !cascades_keep_rows(c, f, r, err) && !is_refused(err)) /* so will the search be */
            return false;
    return true;
}

static void run_batch(struct cascades *c, struct following *f)
{
    struct err err = {0};
    bool ok = keep(c, f, &err) && refresh(c, f, f->batch, &err);

    while (ok && f->batch != NULL && !stop_is_set(&c->stop)) {
        struct cascade_rows *r = f->batch;

        ok = try_rows(c, f, r, &err);
        if (ok) {
            f->batch = r->next;
            cascades_drop(c, f, r);
        }
    }
    if (!ok)
        put_off(c, f, &err);
}

static void take_batch(struct cascades *c, struct following *f)
{
    lock_acquire(&c->lock);
    f->batch = f->first;
    f->turned = false;
    f->first = NULL;
    f->last = &f->first;
    lock_release(&c->lock);
}

static uint64_t highest(const struct cascade_rows *batch)
{
    uint64_t version = 0;

    for (const struct cascade_rows *r = batch; r != NULL; r = r->next)
        if (r->from.at_least > version)
            version = r->from.at_least;
    return version;
}

/* Returns false while the batch must wait. */
static bool advance(struct cascades *c, struct following *f)
{
    if (clock_mono_ms() < f->retry_ms)
        return false;
    if (!f->turned && grace_period_is_clear(f->grace_period))
        f->turned = grace_period_turn(f->grace_period, highest(f->batch));
    if (!f->turned || !grace_period_is_clear(f->grace_period))
        return false;
    run_batch(c, f);
    return true;
}

static struct following *next_following(struct cascades *c, const struct following *f)
{
    lock_acquire(&c->lock);

    struct following *next = f == NULL ? c->all : f->next;

    lock_release(&c->lock);
    return next;
}

/* Whatever comes ends the rest. */
static void rest(struct cascades *c, bool waits)
{
    const int64_t until_ms = clock_mono_ms() + (waits ? CASCADE_POLL_MS : REST_MS);

    lock_acquire(&c->lock);
    if ((waits || !c->is_woken) && !stop_is_set(&c->stop))
        lock_wait_until(&c->lock, &c->added, until_ms);
    c->is_woken = false;
    lock_release(&c->lock);
}

/* Advance the documents that stay.  Returns true if something is waited for. */
static bool sweep(struct cascades *c)
{
    struct err err = {0};
    bool waits = true;

    if (c->fenced || clock_mono_ms() < c->retry_ms || cascades_sweep(c, &waits, &err))
        return waits;
    c->retry_ms = clock_mono_ms() + RETRY_MS;
    c->fenced = err.kind == ERR_STOP && !stop_is_set(&c->stop);
    if (c->fenced)
        log_failure(LOG_ERROR, &err, "another node follows foreign key changes now",
                    KV("topic", c->opt.topic));
    else if (err.kind != ERR_STOP)
        log_failure(LOG_WARN, &err, "foreign key changes wait, trying again",
                    KV("topic", c->opt.topic));
    return true;
}

static void *cascades_main(void *arg)
{
    struct cascades *c = MAGIC_CAST(cascades, arg);

    while (!stop_is_set(&c->stop)) {
        bool waits = sweep(c), ran = false;

        for (struct following *f = next_following(c, NULL); f != NULL;
             f = next_following(c, f)) {
            if (f->batch == NULL)
                take_batch(c, f);
            waits = waits || f->batch != NULL;
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

struct cascades *cascades_new(const struct cascades_options *opt)
{
    struct cascades *c = mem_alloc(1, sizeof(*c));

    c->magic = MAGIC_cascades;
    c->opt = *opt;
    stop_init(&c->stop);
    lock_init(&c->lock, LOCK_private);
    lock_init_cond(&c->added);
    lock_init_cond(&c->freed);
    c->indexes = map_new();
    gone_set_init(&c->gone);
    c->sweep.out = sweep_work_new();
    return c;
}

void cascades_rest(struct cascades *c)
{
    __atomic_store_n(&c->resting, true, __ATOMIC_SEQ_CST);
}

void cascades_stop(struct cascades *c)
{
    stop_set(&c->stop);
    lock_acquire(&c->lock);
    pthread_cond_broadcast(&c->added);
    pthread_cond_broadcast(&c->freed);
    lock_release(&c->lock);
    if (c->started)
        pthread_join(c->thread, NULL);
    c->started = false;
}

static void drop_rows(struct cascades *c, struct following *f, struct cascade_rows *r)
{
    while (r != NULL) {
        struct cascade_rows *next = r->next;

        cascades_drop(c, f, r);
        r = next;
    }
}

/* Another document may have taken the place of one that is being deleted. */
static void drop_sweep(struct cascades *c)
{
    for (size_t i = 0; i < c->sweep.n; i++) {
        struct gone_document *d = c->sweep.docs[i];

        if (gone_set_find(&c->gone, d->target, d->routing, d->id) != d)
            gone_document_free(d);
    }
    free(c->sweep.docs);
    sweep_work_unref(c->sweep.out);
}

void cascades_free(struct cascades *c)
{
    struct str key;
    void *value;

    if (c == NULL)
        return;
    for (size_t i = 0; map_next(c->indexes, &i, &key, &value);) {
        struct following *f = value;

        drop_rows(c, f, f->batch);
        drop_rows(c, f, f->first);
    }
    drop_sweep(c);
    gone_set_fini(&c->gone);
    for (size_t i = 0; map_next(c->indexes, &i, &key, &value);) {
        struct following *f = value;

        buf_free(&f->mapping);
        grace_period_unref(f->grace_period);
        free(f->index);
        free(f);
    }
    map_free(c->indexes, NULL);
    routing_unref(c->routing);
    pthread_cond_destroy(&c->added);
    pthread_cond_destroy(&c->freed);
    lock_fini(&c->lock);
    stop_fini(&c->stop);
    MAGIC_END(cascades, c);
    free(c);
}
