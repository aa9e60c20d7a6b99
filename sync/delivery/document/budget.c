#include "config.h"

#include "sync/delivery/document/budget.h"

#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/thread.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define LOOK_MS 50 /* setting a stop token does not wake the waiter */
#define PART    4  /* 1/PART of the limit goes to allowances; a document above it is large */

struct budget {
    struct lock lock;
    pthread_cond_t has_room;

    /* All guarded by lock. */
    size_t max;            /* also read atomically */
    size_t held;           /* in all */
    size_t common;         /* the bytes above allowances */
    size_t n_indexes;      /* without those that are gone */
    struct map *by_index;  /* to struct allowance */
    struct allowance *all; /* list of the allowances by next */
    struct allowance *large;
    size_t n_waiting, n_large_waiting, n_jobs_waiting; /* callers */
    bool closed;
};

static struct allowance *allowance_new(struct budget *b)
{
    struct allowance *a = mem_alloc(1, sizeof(*a));

    a->budget = b;
    return a;
}

struct budget *budget_new(size_t max)
{
    struct budget *b = mem_alloc(1, sizeof(*b));
    lock_init(&b->lock, LOCK_private);
    lock_init_cond(&b->has_room);
    b->max = max;
    b->by_index = map_new();
    b->large = allowance_new(b);
    return b;
}

void budget_free(struct budget *b)
{
    if (b == NULL)
        return;
    assert(b->n_waiting == 0);
    map_free(b->by_index, free);
    free(b->large);
    pthread_cond_destroy(&b->has_room);
    lock_fini(&b->lock);
    free(b);
}

/* ---- what has room ---- */

/* The allowance of one index. */
static size_t own_max(const struct budget *b, const struct allowance *a) NEEDS(b->lock)
{
    return a->is_gone ? 0 : b->max / PART / b->n_indexes;
}

static size_t common_max(const struct budget *b) NEEDS(b->lock)
{
    return b->n_indexes == 0 ? b->max : b->max - b->max / PART / b->n_indexes * b->n_indexes;
}

static size_t common_max_of_jobs(const struct budget *b) NEEDS(b->lock)
{
    return common_max(b) - common_max(b) / PART;
}

static size_t beyond_own(const struct budget *b, const struct allowance *a) NEEDS(b->lock)
{
    const size_t own = own_max(b, a);

    return a->held > own ? a->held - own : 0;
}

static void count_common(struct budget *b) NEEDS(b->lock)
{
    b->common = 0;
    for (const struct allowance *a = b->all; a != NULL; a = a->next)
        b->common += beyond_own(b, a);
}

static void set_held(struct budget *b, struct allowance *a, size_t held) NEEDS(b->lock)
{
    b->held = b->held - a->held + held;
    if (a != b->large)
        b->common -= beyond_own(b, a);
    a->held = held;
    if (a != b->large)
        b->common += beyond_own(b, a);
}

static bool fits_own(const struct budget *b, const struct budget_claim *c) NEEDS(b->lock)
{
    return c->of->held + c->n <= own_max(b, c->of);
}

static bool is_free(const struct budget *b, const struct budget_claim *c) NEEDS(b->lock)
{
    if (c->of == b->large)
        return c->of->held == 0;
    return fits_own(b, c) || b->common <= (c->for_job ? common_max_of_jobs(b) : common_max(b));
}

static bool take_if_room(struct budget *b, const struct budget_claim *claims, size_t n)
    NEEDS(b->lock)
{
    if (b->closed)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_free(b, &claims[i]))
            return false;
    for (size_t i = 0; i < n; i++)
        set_held(b, claims[i].of, claims[i].of->held + claims[i].n);
    return true;
}

static void wait_for_room(struct budget *b, const struct stop *stop) NEEDS(b->lock)
{
    if (stop == NULL)
        lock_wait(&b->lock, &b->has_room);
    else
        lock_wait_until(&b->lock, &b->has_room, clock_mono_ms() + LOOK_MS);
}

/* ---- allowances ---- */

struct allowance *budget_allowance(struct budget *b, struct str index)
{
    struct allowance *a;

    lock_acquire(&b->lock);
    a = map_find(b->by_index, index);
    if (a == NULL) {
        a = allowance_new(b);
        (void)map_put(b->by_index, index, a);
        a->next = b->all;
        b->all = a;
        b->n_indexes++;
        count_common(b);
    }
    lock_release(&b->lock);
    return a;
}

bool budget_is_large(const struct budget *b, size_t n)
{
    return n > budget_max(b) / PART;
}

struct allowance *budget_large(struct budget *b)
{
    return b->large;
}

void budget_drop(struct allowance *a)
{
    struct budget *b = a->budget;

    lock_acquire(&b->lock);
    b->n_indexes -= !a->is_gone;
    a->is_gone = true;
    count_common(b);
    pthread_cond_broadcast(&b->has_room);
    lock_release(&b->lock);
}

bool budget_try(struct budget *b, const struct budget_claim *claims, size_t n)
{
    lock_acquire(&b->lock);

    const bool taken = take_if_room(b, claims, n);

    lock_release(&b->lock);
    return taken;
}

static bool has_large(const struct budget *b, const struct budget_claim *claims, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (claims[i].of == b->large)
            return true;
    return false;
}

static bool is_for_job(const struct budget_claim *claims, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (claims[i].for_job)
            return true;
    return false;
}

bool budget_take(struct budget *b, const struct budget_claim *claims, size_t n,
                 const struct stop *stop)
{
    const bool large = has_large(b, claims, n), for_job = is_for_job(claims, n);
    bool stopped = false, taken;

    lock_acquire(&b->lock);
    b->n_waiting++;
    b->n_large_waiting += large;
    b->n_jobs_waiting += for_job;
    while (!(taken = take_if_room(b, claims, n)) && !b->closed && !stopped) {
        wait_for_room(b, stop);
        stopped = stop != NULL && stop_is_set(stop);
    }
    b->n_jobs_waiting -= for_job;
    b->n_large_waiting -= large;
    b->n_waiting--;
    lock_release(&b->lock);
    return taken;
}

/* Returns true if there is more room than before. */
static bool settle(struct budget *b, struct allowance *a) NEEDS(b->lock)
{
    const bool is_less = a->freed > a->taken;

    assert(a->held + a->taken >= a->freed);
    if (a->taken != a->freed)
        set_held(b, a, a->held + a->taken - a->freed);
    a->taken = a->freed = 0;
    return is_less;
}

void budget_settle(struct budget *b)
{
    bool is_less;

    lock_acquire(&b->lock);
    is_less = settle(b, b->large);
    for (struct allowance *a = b->all; a != NULL; a = a->next)
        is_less = settle(b, a) || is_less;
    if (is_less && b->n_waiting > 0)
        pthread_cond_broadcast(&b->has_room);
    lock_release(&b->lock);
}

void budget_set_max(struct budget *b, size_t max)
{
    lock_acquire(&b->lock);
    __atomic_store_n(&b->max, max, __ATOMIC_RELAXED);
    count_common(b);
    pthread_cond_broadcast(&b->has_room);
    lock_release(&b->lock);
}

bool budget_has_room(const struct allowance *a, size_t beyond)
{
    struct budget *b = a->budget;

    lock_acquire(&b->lock);

    const bool has = beyond_own(b, a) == 0 || b->common <= common_max(b) + beyond;

    lock_release(&b->lock);
    return has;
}

size_t budget_excess(struct budget *b, size_t n, size_t some)
{
    size_t excess = 0;

    lock_acquire(&b->lock);

    const size_t max = b->n_jobs_waiting > 0 ? common_max_of_jobs(b) : common_max(b);

    if (b->common >= max + n)
        excess = b->common - n - max + some;
    lock_release(&b->lock);
    return excess;
}

bool budget_waits_for_large(struct budget *b)
{
    lock_acquire(&b->lock);

    const bool waits = b->n_large_waiting > 0 && b->large->held > 0;

    lock_release(&b->lock);
    return waits;
}

bool budget_holds_large(struct budget *b)
{
    lock_acquire(&b->lock);

    const bool holds = b->large->held > 0;

    lock_release(&b->lock);
    return holds;
}

size_t budget_held(struct budget *b)
{
    lock_acquire(&b->lock);

    const size_t held = b->held;

    lock_release(&b->lock);
    return held;
}

size_t budget_max(const struct budget *b)
{
    return __atomic_load_n(&b->max, __ATOMIC_RELAXED);
}

size_t budget_waiting(struct budget *b)
{
    lock_acquire(&b->lock);

    const size_t n = b->n_waiting;

    lock_release(&b->lock);
    return n;
}

void budget_close(struct budget *b)
{
    lock_acquire(&b->lock);
    b->closed = true;
    pthread_cond_broadcast(&b->has_room);
    lock_release(&b->lock);
}
