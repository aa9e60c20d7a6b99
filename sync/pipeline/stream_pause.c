#include "config.h"

#include "sync/pipeline/stream_pause.h"

#include "src/base/clock.h"
#include "src/base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum phase {
    PHASE_NONE = 0,
    PHASE_ASKED, /* the builder should come to stream_pause_here() */
    PHASE_THERE, /* the builder waits */
    PHASE_LOST,  /* the builder went on by itself */
};

struct stream_pause {
    int64_t wait_ms;

    pthread_mutex_t lock;
    pthread_cond_t turned; /* monotonic clock */

    /* All guarded by lock; phase is also read without it (atomic). */
    enum phase phase;
    bool closed;
};

struct stream_pause *stream_pause_new(int64_t wait_ms)
{
    struct stream_pause *s = mem_alloc(1, sizeof(*s));
    pthread_condattr_t attr;

    s->wait_ms = wait_ms;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->turned, &attr);
    pthread_condattr_destroy(&attr);
    return s;
}

void stream_pause_free(struct stream_pause *s)
{
    if (s == NULL)
        return;
    pthread_cond_destroy(&s->turned);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void turn(struct stream_pause *s, enum phase phase)
{
    __atomic_store_n(&s->phase, phase, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&s->turned);
}

static enum phase phase_of(const struct stream_pause *s)
{
    return __atomic_load_n(&s->phase, __ATOMIC_ACQUIRE);
}

void stream_pause_close(struct stream_pause *s)
{
    pthread_mutex_lock(&s->lock);
    s->closed = true;
    pthread_cond_broadcast(&s->turned);
    pthread_mutex_unlock(&s->lock);
}

/* ---- the asker ---- */

bool stream_pause_begin(struct stream_pause *s)
{
    pthread_mutex_lock(&s->lock);

    const bool ok = s->phase == PHASE_NONE && !s->closed;

    if (ok)
        turn(s, PHASE_ASKED);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

bool stream_pause_is_there(struct stream_pause *s)
{
    return phase_of(s) == PHASE_THERE;
}

bool stream_pause_is_lost(struct stream_pause *s)
{
    return phase_of(s) == PHASE_LOST;
}

void stream_pause_end(struct stream_pause *s)
{
    pthread_mutex_lock(&s->lock);
    turn(s, PHASE_NONE);
    pthread_mutex_unlock(&s->lock);
}

/* ---- the builder ---- */

void stream_pause_here(struct stream_pause *s)
{
    const int64_t ns = clock_mono_ns() + s->wait_ms * 1000000;
    const struct timespec until = {.tv_sec = (time_t)(ns / 1000000000),
                                   .tv_nsec = (long)(ns % 1000000000)};
    int late = 0;

    pthread_mutex_lock(&s->lock);
    if (s->phase == PHASE_ASKED)
        turn(s, PHASE_THERE);
    while (s->phase == PHASE_THERE && !s->closed && late == 0)
        late = pthread_cond_timedwait(&s->turned, &s->lock, &until);
    if (s->phase == PHASE_THERE)
        turn(s, PHASE_LOST);
    pthread_mutex_unlock(&s->lock);
}
