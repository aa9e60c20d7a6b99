/*
 * A mutex with its place in the order of locks (src/base/lock_order.def), and waits for a
 * condition under it.
 *
 * In a build with checks (configure --enable-werror) a thread that takes locks in another order
 * aborts and names both.  Other builds check nothing.
 *
 * @thread any
 */
#ifndef SRC_BASE_LOCK_H
#define SRC_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What a function does with a lock; clang checks it (-Wthread-safety), other compilers ignore
 * it. NEEDS: its caller holds the lock.  TAKES: it takes the lock for its caller; TAKES_IF: if
 * it returns this value.  GIVES_BACK: it releases what its caller holds.
 */
#ifdef __clang__
#define LOCK_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define LOCK_ATTRIBUTE(...)
#endif
#define NEEDS(...)      LOCK_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define TAKES(...)      LOCK_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TAKES_IF(...)   LOCK_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define GIVES_BACK(...) LOCK_ATTRIBUTE(release_capability(__VA_ARGS__))

enum lock_rank {
#define LOCK(name, protects) LOCK_##name,
#include "src/base/lock_order.def"
#undef LOCK
    N_LOCK_RANKS
};

struct LOCK_ATTRIBUTE(capability("mutex")) lock {
    pthread_mutex_t mutex;
    enum lock_rank rank;
};

/* Of a lock that no function makes. */
#define LOCK_INIT(its_rank)                                    \
    {                                                          \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .rank = (its_rank) \
    }

void lock_init(struct lock *l, enum lock_rank rank);
void lock_fini(struct lock *l);
void lock_acquire(struct lock *l) TAKES(*l);
void lock_release(struct lock *l) GIVES_BACK(*l);

/* For lock_wait() and lock_wait_until(). The caller destroys it with pthread_cond_destroy(). */
void lock_init_cond(pthread_cond_t *cond);
/* Each releases the lock until the condition is signalled, and can return without that. */
void lock_wait(struct lock *l, pthread_cond_t *cond) NEEDS(*l);
/* Returns false if the time came first; until_ms is of clock_mono_ms(). */
bool lock_wait_until(struct lock *l, pthread_cond_t *cond, int64_t until_ms) NEEDS(*l);

#endif
