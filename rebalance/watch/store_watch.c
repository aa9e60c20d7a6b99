#include "config.h"

#include "rebalance/watch/store_watch.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/store/later/fan_out.h"
#include "src/store/later/snapshot.h"
#include "src/store/retired.h"
#include "src/store/told.h"

#include <stdlib.h>
#include <string.h>

struct store_watch {
    enum magic magic;
    struct store *store;
    struct stop *stop;
    pthread_t thread;
    bool is_shared;

    struct lock reading; /* serialises readings */

    struct lock lock;

    /* All guarded by lock. */
    struct watch watch;
    struct store_copy *copy;
};

struct store_watch *store_watch_new(struct store *store, struct stop *stop)
{
    struct store_watch *w = mem_alloc(1, sizeof(*w));

    w->magic = MAGIC_store_watch;
    w->store = store;
    w->stop = stop;
    w->watch.who = "the store";
    lock_init(&w->reading, LOCK_store_reading_lock);
    lock_init(&w->lock, LOCK_store_watch_lock);
    return w;
}

void store_watch_share(struct store_watch *w)
{
    w->is_shared = true;
}

void store_watch_free(struct store_watch *w)
{
    if (w == NULL)
        return;
    store_copy_unref(w->copy);
    lock_fini(&w->reading);
    lock_fini(&w->lock);
    MAGIC_END(store_watch, w);
    free(w);
}

/* ---- copies ---- */

static struct store_copy *copy_ref(struct store_copy *c)
{
    if (c != NULL)
        __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
    return c;
}

void store_copy_unref(struct store_copy *c)
{
    if (c == NULL || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    arena_free(c->arena);
    free(c);
}

bool store_copy_find(const struct stored_value *values, size_t n, const char *prefix,
                     struct str name, struct str *content)
{
    const size_t len = strlen(prefix);

    for (size_t i = 0; i < n; i++)
        if (values[i].name.len == len + name.len &&
            memcmp(values[i].name.ptr, prefix, len) == 0 &&
            memcmp(values[i].name.ptr + len, name.ptr, name.len) == 0) {
            *content = values[i].content;
            return true;
        }
    return false;
}

const struct stored_told *store_copy_told(const struct store_copy *c, struct str topic)
{
    for (size_t i = 0; i < c->n_told; i++)
        if (str_equal(c->told[i].topic, topic))
            return &c->told[i];
    return NULL;
}

static bool load_told(const struct store_watch *w, struct store_copy *c, struct err *err)
{
    return !w->is_shared ||
           (store_load_told(w->store, c->arena, STR(""), &c->told, &c->n_told, err) &&
            store_load_told_nodes(w->store, c->arena, &c->nodes, &c->n_nodes, err));
}

static struct store_copy *load(const struct store_watch *w, struct err *err)
{
    struct store *s = w->store;
    struct store_copy *c = mem_alloc(1, sizeof(*c));

    c->refs = 1;
    c->arena = arena_new();
    if (store_count_dead_letters(s, c->arena, &c->dead, &c->n_dead, err) &&
        store_load_values(s, c->arena, STR("pending/"), &c->pending, &c->n_pending, err) &&
        store_load_values(s, c->arena, STR(STORE_VERIFY), &c->verify, &c->n_verify, err) &&
        store_load_values(s, c->arena, STR(STORE_COMPARED), &c->compared, &c->n_compared,
                          err) &&
        store_load_values(s, c->arena, STR(STORE_SUCCESS), &c->successes, &c->n_successes,
                          err) &&
        store_load_jobs(s, c->arena, &c->jobs, &c->n_jobs, err) &&
        store_load_dropped(s, c->arena, &c->dropped, &c->n_dropped, err) &&
        store_sum_fan_outs(s, c->arena, clock_wall_ms(), &c->fan_outs, &c->n_fan_outs, err) &&
        store_load_snapshot_runs(s, c->arena, STR(""), &c->runs, &c->n_runs, err) &&
        store_load_checkpoints(s, c->arena, &c->checkpoints, &c->n_checkpoints, err) &&
        load_told(w, c, err))
        return c;
    store_copy_unref(c);
    return NULL;
}

/* ---- reading ---- */

static void take(struct store_watch *w, struct store_copy *fresh, const struct err *why)
{
    lock_acquire(&w->lock);

    struct store_copy *old = fresh == NULL ? NULL : w->copy;

    if (fresh != NULL)
        w->copy = fresh;
    watch_answer(&w->watch, clock_wall_ms(), why);
    watch_end(&w->watch, clock_mono_ms());
    lock_release(&w->lock);
    store_copy_unref(old);
}

void store_watch_read(struct store_watch *w)
{
    struct err err = {0};

    lock_acquire(&w->reading);
    lock_acquire(&w->lock);
    watch_begin(&w->watch, clock_mono_ms());
    watch_ask(&w->watch, clock_mono_ms());
    lock_release(&w->lock);

    struct store_copy *fresh = load(w, &err);

    take(w, fresh, &err);
    lock_release(&w->reading);
}

void store_watch_want(struct store_watch *w)
{
    lock_acquire(&w->lock);

    const bool was_wanted = w->watch.is_wanted;

    w->watch.is_wanted = true;
    lock_release(&w->lock);
    if (!was_wanted)
        stop_nudge(w->stop);
}

struct heard store_watch_heard(struct store_watch *w)
{
    lock_acquire(&w->lock);

    const struct heard h = watch_heard(&w->watch, clock_mono_ms());

    lock_release(&w->lock);
    return h;
}

struct store_copy *store_watch_copy(struct store_watch *w)
{
    lock_acquire(&w->lock);

    struct store_copy *c = copy_ref(w->copy);

    lock_release(&w->lock);
    return c;
}

static int64_t due_in_ms(struct store_watch *w)
{
    lock_acquire(&w->lock);

    const int64_t ms = watch_due_in_ms(&w->watch, clock_mono_ms());

    lock_release(&w->lock);
    return ms;
}

static void *store_watch_main(void *arg)
{
    struct store_watch *w = MAGIC_CAST(store_watch, arg);
    uint64_t seen = 0;

    while (!stop_rest(w->stop, due_in_ms(w), &seen))
        if (due_in_ms(w) == 0)
            store_watch_read(w);
    return NULL;
}

void store_watch_start(struct store_watch *w)
{
    w->thread = thread_start("store", store_watch_main, w);
}

void store_watch_join(struct store_watch *w)
{
    pthread_join(w->thread, NULL);
}
