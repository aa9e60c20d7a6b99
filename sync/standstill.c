#include "config.h"

#include "sync/standstill.h"

#include "src/base/clock.h"
#include "src/base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum phase {
    PHASE_NONE = 0,
    PHASE_ASKED,   /* the builder is to come to standstill_here() */
    PHASE_FROZEN,  /* it waits */
    PHASE_RUNNING, /* it goes to high */
    PHASE_THERE,   /* it waits */
    PHASE_LOST,    /* it went on by itself */
};

struct standstill {
    const uint64_t *changes;
    int64_t wait_ms;

    pthread_mutex_t lock;
    pthread_cond_t turned; /* monotonic clock */

    /* All guarded by lock; the builder looks at phase and high without it first (atomics). */
    enum phase phase;
    uint64_t low, high;
    uint64_t at_low, at_high; /* changes */
    bool passed_low, closed;
};

struct standstill *standstill_new(const uint64_t *changes, int64_t wait_ms)
{
    struct standstill *s = mem_alloc(1, sizeof(*s));
    pthread_condattr_t attr;

    s->changes = changes;
    s->wait_ms = wait_ms;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->turned, &attr);
    pthread_condattr_destroy(&attr);
    return s;
}

void standstill_free(struct standstill *s)
{
    if (s == NULL)
        return;
    pthread_cond_destroy(&s->turned);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void turn(struct standstill *s, enum phase phase)
{
    __atomic_store_n(&s->phase, phase, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&s->turned);
}

static enum phase phase_of(const struct standstill *s)
{
    return __atomic_load_n(&s->phase, __ATOMIC_ACQUIRE);
}

void standstill_close(struct standstill *s)
{
    pthread_mutex_lock(&s->lock);
    s->closed = true;
    pthread_cond_broadcast(&s->turned);
    pthread_mutex_unlock(&s->lock);
}

/* ---- who asks ---- */

bool standstill_begin(struct standstill *s)
{
    pthread_mutex_lock(&s->lock);

    const bool ok = s->phase == PHASE_NONE && !s->closed;

    if (ok) {
        s->passed_low = false;
        turn(s, PHASE_ASKED);
    }
    pthread_mutex_unlock(&s->lock);
    return ok;
}

bool standstill_is_frozen(struct standstill *s)
{
    return phase_of(s) == PHASE_FROZEN;
}

void standstill_go_to(struct standstill *s, uint64_t low, uint64_t high)
{
    pthread_mutex_lock(&s->lock);
    s->low = low;
    __atomic_store_n(&s->high, high, __ATOMIC_RELAXED);
    if (s->phase == PHASE_FROZEN)
        turn(s, PHASE_RUNNING);
    pthread_mutex_unlock(&s->lock);
}

bool standstill_is_there(struct standstill *s)
{
    return phase_of(s) == PHASE_THERE;
}

bool standstill_is_lost(struct standstill *s)
{
    return phase_of(s) == PHASE_LOST;
}

bool standstill_end(struct standstill *s, uint64_t *between)
{
    pthread_mutex_lock(&s->lock);

    const bool ok = s->phase == PHASE_THERE;

    *between = ok ? s->at_high - s->at_low : 0;
    turn(s, PHASE_NONE);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

/* ---- the builder ---- */

static uint64_t changes(const struct standstill *s)
{
    return __atomic_load_n(s->changes, __ATOMIC_RELAXED);
}

/* Under lock: until the asker turns it on, or for too long. */
static void wait_while(struct standstill *s, enum phase phase)
{
    const int64_t ns = clock_mono_ns() + s->wait_ms * 1000000;
    const struct timespec until = {.tv_sec = (time_t)(ns / 1000000000),
                                   .tv_nsec = (long)(ns % 1000000000)};
    int late = 0;

    while (s->phase == phase && !s->closed && late == 0)
        late = pthread_cond_timedwait(&s->turned, &s->lock, &until);
    if (s->phase == phase)
        turn(s, PHASE_LOST);
}

static void note_low(struct standstill *s)
{
    if (s->passed_low)
        return;
    s->passed_low = true;
    s->at_low = changes(s);
}

static void stand(struct standstill *s)
{
    note_low(s);
    s->at_high = changes(s);
    turn(s, PHASE_THERE);
    wait_while(s, PHASE_THERE);
}

void standstill_here(struct standstill *s, uint64_t version)
{
    pthread_mutex_lock(&s->lock);
    if (s->phase == PHASE_ASKED) {
        turn(s, PHASE_FROZEN);
        wait_while(s, PHASE_FROZEN);
    }
    if (s->phase == PHASE_RUNNING && version >= s->low)
        note_low(s);
    if (s->phase == PHASE_RUNNING && version >= s->high)
        stand(s);
    pthread_mutex_unlock(&s->lock);
}

void standstill_pass(struct standstill *s, uint64_t version)
{
    if (phase_of(s) != PHASE_RUNNING)
        return;
    pthread_mutex_lock(&s->lock);
    if (s->phase == PHASE_RUNNING && version > s->low)
        note_low(s);
    pthread_mutex_unlock(&s->lock);
}

bool standstill_reaches(const struct standstill *s, uint64_t version)
{
    return phase_of(s) == PHASE_RUNNING &&
           version >= __atomic_load_n(&s->high, __ATOMIC_RELAXED);
}

void standstill_stand(struct standstill *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->phase == PHASE_RUNNING)
        stand(s);
    pthread_mutex_unlock(&s->lock);
}
