/*
 * Named threads and the stop token that every loop checks.
 */
#ifndef SRC_BASE_THREAD_H
#define SRC_BASE_THREAD_H

#include "src/base/base.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Set once, read by many; waiters wake at once.  Zero-initialise with stop_init(). */
struct stop {
    pthread_mutex_t lock;
    pthread_cond_t set_cond;
    bool set; /* atomic for readers */
};

void stop_init(struct stop *s);
void stop_fini(struct stop *s);
void stop_set(struct stop *s);
bool stop_is_set(const struct stop *s);
/* Sleep up to ms; true when the token was set meanwhile. */
bool stop_wait(struct stop *s, int64_t ms);

/* Start a thread with a name of at most 15 bytes; aborts when the system refuses. */
pthread_t thread_start(const char *name, void *(*fn)(void *), void *arg);

#endif
