#include "config.h"

#include "sync/checkpoint/ticket.h"

#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/checkpoint/checkpoint.h"
#include "sync/checkpoint/grace_period.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

struct ticket {
    enum magic magic;
    struct checkpoint *cp;
    struct ticket_counters *counters;
    void (*on_done)(void *ctx, enum outcome worst);
    void (*on_abandon)(void *ctx);
    void *ctx;
    struct grace_period *inside; /* NULL: in none */
    unsigned side;
    uint64_t seq;
    unsigned refs;  /* atomic; all references */
    unsigned busy;  /* atomic; references other than holds */
    unsigned worst; /* atomic; enum outcome, or ABANDONED */
};

#define ABANDONED ((unsigned)N_OUTCOMES)

struct ticket *ticket_new(struct checkpoint *cp, uint64_t seq, struct ticket_counters *c)
{
    struct ticket *t = mem_alloc(1, sizeof(*t));

    t->magic = MAGIC_ticket;
    t->cp = cp;
    t->seq = seq;
    t->counters = c;
    t->refs = t->busy = 1;
    if (cp != NULL) {
        checkpoint_ref(cp);
        checkpoint_expect(cp, seq, 1);
    }
    if (c != NULL)
        __atomic_fetch_add(&c->read, 1, __ATOMIC_RELAXED);
    return t;
}

struct ticket *ticket_new_cb(void (*on_done)(void *ctx, enum outcome worst), void *ctx)
{
    struct ticket *t = mem_alloc(1, sizeof(*t));

    t->magic = MAGIC_ticket;
    t->on_done = on_done;
    t->ctx = ctx;
    t->refs = t->busy = 1;
    return t;
}

struct ticket *ticket_ref(struct ticket *t)
{
    unsigned before = __atomic_fetch_add(&t->busy, 1, __ATOMIC_RELAXED);

    assert(before > 0);
    __atomic_fetch_add(&t->refs, 1, __ATOMIC_RELAXED);
    return t;
}

struct ticket *ticket_hold(struct ticket *t)
{
    unsigned before = __atomic_fetch_add(&t->refs, 1, __ATOMIC_RELAXED);

    assert(before > 0);
    return t;
}

void ticket_on_abandon(struct ticket *t, void (*on_abandon)(void *ctx))
{
    t->on_abandon = on_abandon;
}

void ticket_pass(struct ticket *t, struct grace_period *x, unsigned side)
{
    assert(t->inside == NULL);
    t->inside = grace_period_ref(x);
    t->side = side;
}

static void worsen(struct ticket *t, unsigned how)
{
    unsigned worst = __atomic_load_n(&t->worst, __ATOMIC_RELAXED);

    while (how > worst && !__atomic_compare_exchange_n(&t->worst, &worst, how, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void finish(struct ticket *t)
{
    enum outcome worst = (enum outcome)t->worst;

    if (t->counters != NULL)
        __atomic_fetch_add(&t->counters->done[worst], 1, __ATOMIC_RELAXED);
    if (t->cp != NULL)
        checkpoint_done(t->cp, t->seq, 1);
    if (t->on_done != NULL)
        t->on_done(t->ctx, worst);
}

static void unref(struct ticket *t)
{
    unsigned before = __atomic_fetch_sub(&t->refs, 1, __ATOMIC_ACQ_REL);

    assert(before > 0);
    if (before > 1)
        return;
    if (t->worst != ABANDONED)
        finish(t);
    else if (t->on_abandon != NULL)
        t->on_abandon(t->ctx);
    checkpoint_unref(t->cp);
    grace_period_unref(t->inside);
    MAGIC_END(ticket, t);
    free(t);
}

static void end_work(struct ticket *t)
{
    unsigned before = __atomic_fetch_sub(&t->busy, 1, __ATOMIC_ACQ_REL);

    assert(before > 0);
    if (before == 1 && t->inside != NULL)
        grace_period_leave(t->inside, t->side);
}

void ticket_done(struct ticket *t, enum outcome how)
{
    worsen(t, (unsigned)how);
    end_work(t);
    unref(t);
}

void ticket_abandon(struct ticket *t)
{
    worsen(t, ABANDONED);
    end_work(t);
    unref(t);
}

void ticket_release(struct ticket *t, enum outcome how)
{
    worsen(t, (unsigned)how);
    unref(t);
}

void ticket_release_abandoned(struct ticket *t)
{
    worsen(t, ABANDONED);
    unref(t);
}
