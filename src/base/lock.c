#include "config.h"

#include "src/base/lock.h"

#include "src/base/clock.h"

#include <time.h>

#ifdef LOCK_CHECKS
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {
#define LOCK(name, protects) #name,
#include "src/base/lock_order.def"
#undef LOCK
};

_Static_assert(N_LOCK_RANKS <= 64, "a bit of held for each rank");
static _Thread_local uint64_t held;      /* the ranks that this thread holds */
static _Thread_local unsigned n_private; /* how many private locks it holds */

static void note_acquired(enum lock_rank rank)
{
    if (held >> rank != 0 && rank != LOCK_private) {
        const int highest = 63 - __builtin_clzll(held);

        fprintf(stderr, "%s is taken under %s: see src/base/lock_order.def\n", names[rank],
                names[highest]);
        abort();
    }
    held |= (uint64_t)1 << rank;
    n_private += rank == LOCK_private;
}

static void note_released(enum lock_rank rank)
{
    if (rank != LOCK_private || --n_private == 0)
        held &= ~((uint64_t)1 << rank);
}
#else
#define note_acquired(rank) ((void)0)
#define note_released(rank) ((void)0)
#endif

void lock_init(struct lock *l, enum lock_rank rank)
{
    pthread_mutex_init(&l->mutex, NULL);
    l->rank = rank;
}

void lock_fini(struct lock *l)
{
    pthread_mutex_destroy(&l->mutex);
}

/* Checked before: a wrong order aborts where it would have waited for ever. */
LOCK_ATTRIBUTE(no_thread_safety_analysis)
void lock_acquire(struct lock *l)
{
    note_acquired(l->rank);
    pthread_mutex_lock(&l->mutex);
}

LOCK_ATTRIBUTE(no_thread_safety_analysis)
void lock_release(struct lock *l)
{
    pthread_mutex_unlock(&l->mutex);
    note_released(l->rank);
}

void lock_init_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

/* While a thread waits it takes no lock, so what it holds need not be told. */
void lock_wait(struct lock *l, pthread_cond_t *cond)
{
    pthread_cond_wait(cond, &l->mutex);
}

/* A condition can wait by CLOCK_MONOTONIC only, so a sleep of the machine makes it late. */
bool lock_wait_until(struct lock *l, pthread_cond_t *cond, int64_t until_ms)
{
    const int64_t awake_ms = until_ms - clock_slept_ms();
    const struct timespec until = {.tv_sec = (time_t)(awake_ms / 1000),
                                   .tv_nsec = (long)(awake_ms % 1000) * 1000000};

    return pthread_cond_timedwait(cond, &l->mutex, &until) == 0;
}
