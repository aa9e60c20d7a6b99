/*
 * What delivery has done so far, and waiting for what it does, with a limit.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "tests/component/delivery_rig_parts.h"

#include "src/base/clock.h"

#include <time.h>

#define WAIT_MS 20000

void rig_sleep(int64_t ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

uint64_t rig_done(struct rig *r, enum outcome how)
{
    return __atomic_load_n(&r->tickets.done[how], __ATOMIC_RELAXED);
}

uint64_t rig_all_done(struct rig *r)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < N_OUTCOMES; i++)
        n += rig_done(r, (enum outcome)i);
    return n;
}

/* Counts and states that delivery's thread writes. */
static size_t count(struct rig *r, const size_t *n)
{
    pthread_mutex_lock(&r->lock);

    const size_t seen = *n;

    pthread_mutex_unlock(&r->lock);
    return seen;
}

static bool is(struct rig *r, const bool *state)
{
    pthread_mutex_lock(&r->lock);

    const bool seen = *state;

    pthread_mutex_unlock(&r->lock);
    return seen;
}

size_t rig_events(struct rig *r, enum delivery_event what)
{
    return count(r, &r->reports.n_events[what]);
}

#define WAIT_UNTIL(condition)                                \
    do {                                                     \
        const int64_t until_ms_ = clock_mono_ms() + WAIT_MS; \
        while (!(condition)) {                               \
            if (clock_mono_ms() > until_ms_)                 \
                fail_msg("waited in vain: " #condition);     \
            rig_sleep(1);                                    \
        }                                                    \
    } while (0)

void rig_wait_pushed(struct rig_pusher *p)
{
    WAIT_UNTIL(rig_pushed(p) == p->n);
    pthread_join(p->thread, NULL);
}

void rig_wait_done(struct rig *r)
{
    WAIT_UNTIL(rig_all_done(r) == __atomic_load_n(&r->tickets.read, __ATOMIC_RELAXED));
    rig_is_held(r); /* whatever was told under the lock can be looked at now */
}

bool rig_is_held(struct rig *r)
{
    return is(r, &r->reports.is_held);
}

void rig_wait_held(struct rig *r, bool held)
{
    WAIT_UNTIL(rig_is_held(r) == held);
}

void rig_wait_let_go(struct rig *r)
{
    WAIT_UNTIL(!is(r, &r->reports.next_held));
}

void rig_wait_events(struct rig *r, enum delivery_event what, size_t n)
{
    WAIT_UNTIL(rig_events(r, what) >= n);
}

bool rig_is_partly(struct rig *r)
{
    return is(r, &r->reports.is_partly);
}

void rig_wait_partly(struct rig *r)
{
    WAIT_UNTIL(rig_is_partly(r));
}

void rig_wait_requests(struct rig *r, uint64_t n)
{
    WAIT_UNTIL(fake_search_requests(r->fake) >= n);
}

void rig_wait_failed(struct rig *r, uint64_t n)
{
    WAIT_UNTIL(delivery_status(r->delivery).requests_failed >= n);
}

void rig_wait_burying(struct rig_dead *dead)
{
    WAIT_UNTIL(__atomic_load_n(&dead->is_burying, __ATOMIC_RELAXED));
}

void rig_wait_held_bytes(struct rig *r, size_t n)
{
    WAIT_UNTIL(delivery_status(r->delivery).bytes_held == n);
}

void rig_wait_cleared(struct rig *r, size_t n)
{
    WAIT_UNTIL(count(r, &r->dead.n_cleared) >= n);
}

void rig_wait_gone(struct rig *r, size_t n)
{
    WAIT_UNTIL(count(r, &r->gone.n) >= n);
}

size_t rig_purged(struct rig *r)
{
    return count(r, &r->purged.n);
}

void rig_wait_purged(struct rig *r, size_t n)
{
    WAIT_UNTIL(rig_purged(r) >= n);
}

void rig_wait_queued(struct rig *r, uint64_t n)
{
    WAIT_UNTIL(delivery_status(r->delivery).queued >= n);
}

void rig_wait_empty(struct rig *r)
{
    WAIT_UNTIL(delivery_status(r->delivery).queued + delivery_status(r->delivery).loading == 0);
}

void rig_wait_read(struct rig_reads *reads, size_t n)
{
    WAIT_UNTIL(__atomic_load_n(&reads->n_documents, __ATOMIC_SEQ_CST) >= n);
}

void rig_wait_blocked(struct rig *r, size_t n_callers)
{
    WAIT_UNTIL(delivery_status(r->delivery).blocked == n_callers);
}

void rig_wait_count(struct rig *r, const char *index, size_t n)
{
    WAIT_UNTIL(fake_search_count(r->fake, index) == n);
}
