#include "config.h"

#include "rebalance/dead_letter/repair_slice.h"

#include "src/base/mem.h"
#include "sync/checkpoint/ticket.h"

#include <assert.h>
#include <stdlib.h>

struct entry {
    struct repair_slice *slice;
    enum repair_state state; /* atomic */
};

struct repair_slice {
    size_t refs; /* atomic: tickets that are out, and the owner */
    size_t n;
    struct entry entries[];
};

struct repair_slice *repair_slice_new(size_t n)
{
    struct repair_slice *s = mem_alloc(1, sizeof(*s) + n * sizeof(struct entry));

    s->refs = 1;
    s->n = n;
    return s;
}

static void unref(struct repair_slice *s)
{
    if (__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(s);
}

static void end(struct entry *e, enum repair_state how)
{
    __atomic_store_n(&e->state, how, __ATOMIC_RELEASE);
    unref(e->slice);
}

static void on_done(void *ctx, enum outcome worst)
{
    end(ctx,
        worst == OUTCOME_DEFERRED || worst == OUTCOME_PURGED ? REPAIR_UNDONE : REPAIR_WRITTEN);
}

static void on_abandon(void *ctx)
{
    end(ctx, REPAIR_UNDONE);
}

struct ticket *repair_slice_ticket(struct repair_slice *s, size_t i)
{
    struct ticket *t;

    assert(i < s->n && s->entries[i].slice == NULL);
    s->entries[i].slice = s;
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    t = ticket_new_cb(on_done, &s->entries[i]);
    ticket_on_abandon(t, on_abandon);
    return t;
}

enum repair_state repair_slice_state(const struct repair_slice *s, size_t i)
{
    assert(i < s->n);
    return (enum repair_state)__atomic_load_n(&s->entries[i].state, __ATOMIC_ACQUIRE);
}

bool repair_slice_is_over(const struct repair_slice *s)
{
    return __atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) == 1;
}

void repair_slice_leave(struct repair_slice *s)
{
    if (s != NULL)
        unref(s);
}
