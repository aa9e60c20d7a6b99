#include "config.h"

#include "sync/delivery/index/worker_backlog.h"

#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "sync/delivery/document/write.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define LOOK_MS 50 /* setting a stop token does not wake the waiter */

/*
 * A waiter announces itself before it reads the counts; whoever lowers a count does so before
 * it looks for waiters.  So one of the two sees the other.
 */
struct worker_backlog {
    struct lock lock;
    pthread_cond_t is_lower;
    unsigned workers;                   /* atomic */
    size_t high;                        /* atomic */
    size_t n_waiting;                   /* atomic */
    bool closed;                        /* atomic */
    size_t counts[BACKLOG_WORKERS_MAX]; /* atomic */
};

struct worker_backlog *worker_backlog_new(unsigned workers, size_t high)
{
    struct worker_backlog *m = mem_alloc(1, sizeof(*m));
    assert(workers > 0 && workers <= BACKLOG_WORKERS_MAX);
    lock_init(&m->lock, LOCK_private);
    lock_init_cond(&m->is_lower);
    m->workers = workers;
    m->high = high;
    return m;
}

void worker_backlog_free(struct worker_backlog *m)
{
    if (m == NULL)
        return;
    assert(m->n_waiting == 0);
    pthread_cond_destroy(&m->is_lower);
    lock_fini(&m->lock);
    free(m);
}

static uint16_t worker_of(const struct worker_backlog *m, const struct write *w)
{
    return (uint16_t)(w->hash % __atomic_load_n(&m->workers, __ATOMIC_RELAXED));
}

void worker_backlog_enter(struct worker_backlog *m, struct write *first,
                          struct worker_backlog_turn *turn)
{
    *turn = (struct worker_backlog_turn){0};
    for (struct write *w = first; w != NULL; w = w->next) {
        w->worker = worker_of(m, w);
        turn->workers[w->worker / 64] |= UINT64_C(1) << w->worker % 64;
        __atomic_fetch_add(&m->counts[w->worker], 1, __ATOMIC_SEQ_CST);
    }
}

bool worker_backlog_is_above(const struct worker_backlog *m,
                             const struct worker_backlog_turn *turn)
{
    const size_t high = worker_backlog_high(m);

    for (unsigned i = 0; i < ARRAY_LEN(turn->workers); i++)
        for (uint64_t bits = turn->workers[i]; bits != 0; bits &= bits - 1)
            if (worker_backlog_count(m, i * 64 + (unsigned)__builtin_ctzll(bits)) > high)
                return true;
    return false;
}

void worker_backlog_wait(struct worker_backlog *m, const struct worker_backlog_turn *turn,
                         const struct stop *stop)
{
    lock_acquire(&m->lock);
    __atomic_fetch_add(&m->n_waiting, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&m->closed, __ATOMIC_SEQ_CST) && worker_backlog_is_above(m, turn) &&
           (stop == NULL || !stop_is_set(stop)))
        lock_wait_until(&m->lock, &m->is_lower, clock_mono_ms() + LOOK_MS);
    __atomic_fetch_sub(&m->n_waiting, 1, __ATOMIC_SEQ_CST);
    lock_release(&m->lock);
}

static void wake(struct worker_backlog *m)
{
    if (__atomic_load_n(&m->n_waiting, __ATOMIC_SEQ_CST) == 0)
        return;
    lock_acquire(&m->lock);
    pthread_cond_broadcast(&m->is_lower);
    lock_release(&m->lock);
}

void worker_backlog_leave(struct worker_backlog *m, unsigned worker)
{
    const size_t high = __atomic_load_n(&m->high, __ATOMIC_RELAXED);
    const size_t left = __atomic_sub_fetch(&m->counts[worker], 1, __ATOMIC_SEQ_CST);

    assert(left != SIZE_MAX);
    if (left == high)
        wake(m);
}

void worker_backlog_move(struct worker_backlog *m, struct write *w)
{
    const unsigned before = w->worker;

    w->worker = worker_of(m, w);
    if (w->aside || w->worker == before)
        return;
    __atomic_fetch_add(&m->counts[w->worker], 1, __ATOMIC_SEQ_CST);
    worker_backlog_leave(m, before);
}

size_t worker_backlog_high(const struct worker_backlog *m)
{
    return __atomic_load_n(&m->high, __ATOMIC_SEQ_CST);
}

size_t worker_backlog_count(const struct worker_backlog *m, unsigned worker)
{
    return __atomic_load_n(&m->counts[worker], __ATOMIC_SEQ_CST);
}

size_t worker_backlog_most(const struct worker_backlog *m)
{
    size_t most = 0;

    for (unsigned i = 0; i < BACKLOG_WORKERS_MAX; i++)
        most = worker_backlog_count(m, i) > most ? worker_backlog_count(m, i) : most;
    return most;
}

size_t worker_backlog_waiting(const struct worker_backlog *m)
{
    return __atomic_load_n(&m->n_waiting, __ATOMIC_SEQ_CST);
}

void worker_backlog_set(struct worker_backlog *m, unsigned workers, size_t high)
{
    assert(workers > 0 && workers <= BACKLOG_WORKERS_MAX);
    __atomic_store_n(&m->workers, workers, __ATOMIC_SEQ_CST);
    __atomic_store_n(&m->high, high, __ATOMIC_SEQ_CST);
    wake(m);
}

void worker_backlog_close(struct worker_backlog *m)
{
    __atomic_store_n(&m->closed, true, __ATOMIC_SEQ_CST);
    wake(m);
}
