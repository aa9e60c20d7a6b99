#include "config.h"

#include "rebalance/watch/findings.h"

#include "src/base/arena.h"
#include "src/base/lock.h"
#include "src/base/mem.h"

#include <stdlib.h>

struct findings {
    bool due; /* atomic */
    struct lock lock;

    /* All guarded by lock. */
    struct arena *arena; /* the list's */
    struct finding *list;
    size_t n;
    struct findings_age age;
};

struct findings *findings_new(void)
{
    struct findings *f = mem_alloc(1, sizeof(*f));

    lock_init(&f->lock, LOCK_private);
    f->arena = arena_new();
    return f;
}

void findings_free(struct findings *f)
{
    if (f == NULL)
        return;
    arena_free(f->arena);
    lock_fini(&f->lock);
    free(f);
}

void findings_ask_soon(struct findings *f)
{
    __atomic_store_n(&f->due, true, __ATOMIC_RELEASE);
}

bool findings_take_due(struct findings *f)
{
    return __atomic_exchange_n(&f->due, false, __ATOMIC_ACQ_REL);
}

static struct finding *copy(struct arena *a, const struct finding *list, size_t n)
{
    struct finding *own = arena_alloc(a, n + 1, sizeof(*own));

    for (size_t i = 0; i < n; i++)
        own[i] = (struct finding){.alias = arena_copy(a, list[i].alias),
                                  .index = arena_copy(a, list[i].index),
                                  .stray = arena_copy(a, list[i].stray),
                                  .reason = arena_copy(a, list[i].reason),
                                  .fix = arena_copy(a, list[i].fix),
                                  .mend = list[i].mend};
    return own;
}

void findings_put(struct findings *f, const struct finding *list, size_t n, int64_t now_ms)
{
    struct arena *fresh = arena_new();
    struct finding *own = copy(fresh, list, n);

    lock_acquire(&f->lock);

    struct arena *old = f->arena;

    f->arena = fresh;
    f->list = own;
    f->n = n;
    f->age = (struct findings_age){.asked_ms = now_ms, .answered_ms = now_ms};
    lock_release(&f->lock);
    arena_free(old);
}

void findings_fail(struct findings *f, const struct err *why, int64_t now_ms)
{
    lock_acquire(&f->lock);
    f->age.asked_ms = now_ms;
    f->age.why = *why;
    lock_release(&f->lock);
}

struct findings_age findings_age(struct findings *f)
{
    lock_acquire(&f->lock);

    const struct findings_age age = f->age;

    lock_release(&f->lock);
    return age;
}

const struct finding *findings_all(struct findings *f, struct arena *a, size_t *n)
{
    lock_acquire(&f->lock);

    const struct finding *list = copy(a, f->list, f->n);

    *n = f->n;
    lock_release(&f->lock);
    return list;
}
