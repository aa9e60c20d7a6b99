#include "config.h"

#include "src/base/lock.h"

#ifdef LOCK_CHECKS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {
#define LOCK(name, protects) #name,
#include "src/base/lock_order.def"
#undef LOCK
};

_Static_assert(N_LOCK_RANKS <= 64, "a bit of held for each rank");
static _Thread_local uint64_t held; /* the ranks that this thread holds */

static void note_acquired(enum lock_rank rank)
{
    if (held >> rank != 0) {
        const int highest = 63 - __builtin_clzll(held);

        fprintf(stderr, "%s is taken under %s: see src/base/lock_order.def\n", names[rank],
                names[highest]);
        abort();
    }
    held |= (uint64_t)1 << rank;
}

static void note_released(enum lock_rank rank)
{
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
