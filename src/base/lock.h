/*
 * A mutex with its place in the order of locks (src/base/lock_order.def).
 *
 * In a build with checks (configure --enable-werror) a thread that takes locks in another order
 * aborts and names both.  Other builds check nothing.
 *
 * @thread any
 */
#ifndef SRC_BASE_LOCK_H
#define SRC_BASE_LOCK_H

#include <pthread.h>

enum lock_rank {
#define LOCK(name, protects) LOCK_##name,
#include "src/base/lock_order.def"
#undef LOCK
    N_LOCK_RANKS
};

struct lock {
    pthread_mutex_t mutex;
    enum lock_rank rank;
};

void lock_init(struct lock *l, enum lock_rank rank);
void lock_fini(struct lock *l);
void lock_acquire(struct lock *l);
void lock_release(struct lock *l);

#endif
