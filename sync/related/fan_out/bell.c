#include "config.h"

#include "sync/related/fan_out/bell.h"

#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct bell {
    unsigned refs; /* atomic */
    struct lock lock;
    pthread_cond_t woken;

    /* All guarded by lock. */
    bool rings;
};

struct bell *bell_new(void)
{
    struct bell *b = mem_alloc(1, sizeof(*b));

    b->refs = 1;
    lock_init(&b->lock, LOCK_private);
    lock_init_cond(&b->woken);
    return b;
}

struct bell *bell_ref(struct bell *b)
{
    const unsigned before = __atomic_fetch_add(&b->refs, 1, __ATOMIC_RELAXED);

    assert(before > 0);
    return b;
}

void bell_unref(struct bell *b)
{
    if (__atomic_fetch_sub(&b->refs, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    lock_fini(&b->lock);
    pthread_cond_destroy(&b->woken);
    free(b);
}

void bell_ring(struct bell *b)
{
    lock_acquire(&b->lock);
    b->rings = true;
    pthread_cond_signal(&b->woken);
    lock_release(&b->lock);
}

void bell_wait(struct bell *b, int64_t ms)
{
    const int64_t until_ms = clock_mono_ms() + ms;

    lock_acquire(&b->lock);
    while (!b->rings && clock_mono_ms() < until_ms)
        lock_wait_until(&b->lock, &b->woken, until_ms);
    b->rings = false;
    lock_release(&b->lock);
}
