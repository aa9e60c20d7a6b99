#include "config.h"

#include "sync/checkpoint/checkpoint.h"

#include "src/base/lock.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>

#define INITIAL_WINDOW 64

/*
 * pending[seq % window] counts what transaction seq still waits for: its
 * undelivered actions, plus one until it is closed.  Only the transactions in
 * (safe, opened] have a slot; the window doubles when they do not fit.
 */
struct checkpoint {
    unsigned refs; /* atomic */
    struct ticket_counters counters;
    struct lock lock;

    /* All guarded by lock. */
    uint32_t *pending;
    uint64_t window;
    uint64_t safe;
    uint64_t opened;
};

struct checkpoint *checkpoint_new(void)
{
    struct checkpoint *cp = mem_alloc(1, sizeof(*cp));

    cp->refs = 1;
    lock_init(&cp->lock, LOCK_private);
    cp->window = INITIAL_WINDOW;
    cp->pending = mem_alloc(cp->window, sizeof(*cp->pending));
    return cp;
}

struct checkpoint *checkpoint_ref(struct checkpoint *cp)
{
    const unsigned before = __atomic_fetch_add(&cp->refs, 1, __ATOMIC_RELAXED);

    assert(before > 0);
    return cp;
}

void checkpoint_unref(struct checkpoint *cp)
{
    if (cp == NULL || __atomic_fetch_sub(&cp->refs, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    lock_fini(&cp->lock);
    free(cp->pending);
    free(cp);
}

struct ticket_counters *checkpoint_counters(struct checkpoint *cp)
{
    return &cp->counters;
}

static uint32_t *slot(struct checkpoint *cp, uint64_t seq)
{
    return &cp->pending[seq % cp->window];
}

static void widen(struct checkpoint *cp) NEEDS(cp->lock)
{
    struct checkpoint wider = {.window = cp->window * 2};

    wider.pending = mem_alloc(wider.window, sizeof(*wider.pending));
    for (uint64_t seq = cp->safe + 1; seq <= cp->opened; seq++)
        *slot(&wider, seq) = *slot(cp, seq);
    free(cp->pending);
    cp->pending = wider.pending;
    cp->window = wider.window;
}

static void advance(struct checkpoint *cp) NEEDS(cp->lock)
{
    while (cp->safe < cp->opened && *slot(cp, cp->safe + 1) == 0)
        cp->safe++;
}

uint64_t checkpoint_open(struct checkpoint *cp)
{
    lock_acquire(&cp->lock);
    if (cp->opened - cp->safe == cp->window)
        widen(cp);

    uint64_t seq = ++cp->opened;

    *slot(cp, seq) = 1;
    lock_release(&cp->lock);
    return seq;
}

bool checkpoint_reopen(struct checkpoint *cp, uint64_t seq)
{
    lock_acquire(&cp->lock);

    const bool ok = seq > cp->safe && seq <= cp->opened;

    if (ok)
        *slot(cp, seq) += 1;
    lock_release(&cp->lock);
    return ok;
}

void checkpoint_expect(struct checkpoint *cp, uint64_t seq, uint32_t n)
{
    lock_acquire(&cp->lock);
    assert(seq > cp->safe && seq <= cp->opened);
    assert(n < UINT32_MAX - *slot(cp, seq));
    *slot(cp, seq) += n;
    lock_release(&cp->lock);
}

void checkpoint_close(struct checkpoint *cp, uint64_t seq)
{
    checkpoint_done(cp, seq, 1);
}

void checkpoint_done(struct checkpoint *cp, uint64_t seq, uint32_t n)
{
    lock_acquire(&cp->lock);
    assert(seq > cp->safe && seq <= cp->opened);
    assert(*slot(cp, seq) >= n);
    *slot(cp, seq) -= n;
    advance(cp);
    lock_release(&cp->lock);
}

uint64_t checkpoint_safe(struct checkpoint *cp)
{
    lock_acquire(&cp->lock);

    uint64_t safe = cp->safe;

    lock_release(&cp->lock);
    return safe;
}
