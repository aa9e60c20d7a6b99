#include "config.h"

#include "sync/pipeline/stream_pause.h"

#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/mem.h"

#include <pthread.h>
#include <stdlib.h>

enum phase {
    PHASE_NONE = 0,
    PHASE_ASKED, /* the builder should come to stream_pause_here() */
    PHASE_THERE, /* the builder waits */
    PHASE_LOST,  /* the builder went on by itself */
};

struct stream_pause {
    int64_t wait_ms;

    struct lock lock;
    pthread_cond_t turned;

    /* All guarded by lock; phase is also read without it (atomic). */
    enum phase phase;
    bool closed;
};

struct stream_pause *stream_pause_new(int64_t wait_ms)
{
    struct stream_pause *s = mem_alloc(1, sizeof(*s));
    s->wait_ms = wait_ms;
    lock_init(&s->lock, LOCK_private);
    lock_init_cond(&s->turned);
    return s;
}

void stream_pause_free(struct stream_pause *s)
{
    if (s == NULL)
        return;
    pthread_cond_destroy(&s->turned);
    lock_fini(&s->lock);
    free(s);
}

static void turn(struct stream_pause *s, enum phase phase) NEEDS(s->lock)
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
    lock_acquire(&s->lock);
    s->closed = true;
    pthread_cond_broadcast(&s->turned);
    lock_release(&s->lock);
}

/* ---- the asker ---- */

bool stream_pause_begin(struct stream_pause *s)
{
    lock_acquire(&s->lock);

    const bool ok = s->phase == PHASE_NONE && !s->closed;

    if (ok)
        turn(s, PHASE_ASKED);
    lock_release(&s->lock);
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
    lock_acquire(&s->lock);
    turn(s, PHASE_NONE);
    lock_release(&s->lock);
}

/* ---- the builder ---- */

void stream_pause_here(struct stream_pause *s)
{
    const int64_t until_ms = clock_mono_ms() + s->wait_ms;
    bool in_time = true;

    lock_acquire(&s->lock);
    if (s->phase == PHASE_ASKED)
        turn(s, PHASE_THERE);
    while (s->phase == PHASE_THERE && !s->closed && in_time)
        in_time = lock_wait_until(&s->lock, &s->turned, until_ms);
    if (s->phase == PHASE_THERE)
        turn(s, PHASE_LOST);
    lock_release(&s->lock);
}
