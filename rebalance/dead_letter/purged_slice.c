#include "config.h"

#include "rebalance/dead_letter/purged_slice.h"

#include "src/base/mem.h"
#include "sync/checkpoint/ticket.h"

#include <assert.h>
#include <stdlib.h>

struct purged_entry {
    struct purged_slice *slice;
    enum purged_state state; /* atomic */
};

struct purged_slice {
    size_t refs; /* atomic: tickets that are out, and the owner */
    size_t n;
    struct purged_entry entries[];
};

struct purged_slice *purged_slice_new(size_t n)
{
    struct purged_slice *s = mem_alloc(1, sizeof(*s) + n * sizeof(struct purged_entry));

    s->refs = 1;
    s->n = n;
    return s;
}

static void unref(struct purged_slice *s)
{
    if (__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(s);
}

static void end(struct purged_entry *e, enum purged_state how)
{
    __atomic_store_n(&e->state, how, __ATOMIC_RELEASE);
    unref(e->slice);
}

static void on_done(void *ctx, enum outcome worst)
{
    end(ctx,
        worst == OUTCOME_DEFERRED || worst == OUTCOME_PURGED ? PURGED_UNDONE : PURGED_WRITTEN);
}

static void on_abandon(void *ctx)
{
    end(ctx, PURGED_UNDONE);
}

struct ticket *purged_slice_ticket(struct purged_slice *s, size_t i)
{
    struct ticket *t;

    assert(i < s->n && s->entries[i].slice == NULL);
    s->entries[i].slice = s;
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    t = ticket_new_cb(on_done, &s->entries[i]);
    ticket_on_abandon(t, on_abandon);
    return t;
}

enum purged_state purged_slice_state(const struct purged_slice *s, size_t i)
{
    assert(i < s->n);
    return (enum purged_state)__atomic_load_n(&s->entries[i].state, __ATOMIC_ACQUIRE);
}

bool purged_slice_is_over(const struct purged_slice *s)
{
    return __atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) == 1;
}

void purged_slice_leave(struct purged_slice *s)
{
    if (s != NULL)
        unref(s);
}
