/*
 * Named threads, and the stop token that every loop checks and sleeps on.
 */
#ifndef SRC_BASE_THREAD_H
#define SRC_BASE_THREAD_H

#include "src/base/base.h"
#include "src/base/lock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Set once, read by many; setting wakes all waiters. Initialise with stop_init(). */
struct stop {
    struct lock lock;
    pthread_cond_t set_cond;
    bool set;           /* atomic for readers */
    uint64_t nudges;    /* guarded by lock, like the next */
    unsigned n_resting; /* threads in stop_rest() */
};

void stop_init(struct stop *s);
void stop_fini(struct stop *s);
void stop_set(struct stop *s);
bool stop_is_set(const struct stop *s);
/* Sleeps up to ms. Returns true if the token was set meanwhile. */
bool stop_wait(struct stop *s, int64_t ms);

/*
 * A thread without work rests until its next deadline, or until another thread nudges it:
 * stop_rest() also returns after a stop_nudge() that *seen does not know, and sets *seen, which
 * begins as 0. A nudge between two rests is not lost, if the thread looks for work after the
 * first. A nudge costs nothing to speak of while nobody rests.
 */
bool stop_rest(struct stop *s, int64_t ms, uint64_t *seen);
void stop_nudge(struct stop *s);

/* Starts a thread with a name of at most 15 bytes. Aborts if the system refuses. */
pthread_t thread_start(const char *name, void *(*fn)(void *), void *arg);

#endif
