#include "config.h"

#include "sync/checkpoint/grace_period.h"

#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>

struct grace_period {
    unsigned refs;    /* atomic */
    unsigned side;    /* atomic; 0 or 1 */
    size_t inside[2]; /* atomic */
    uint64_t floor;   /* atomic */
};

struct grace_period *grace_period_new(void)
{
    struct grace_period *t = mem_alloc(1, sizeof(*t));

    t->refs = 1;
    return t;
}

struct grace_period *grace_period_ref(struct grace_period *t)
{
    const unsigned before = __atomic_fetch_add(&t->refs, 1, __ATOMIC_RELAXED);

    assert(before > 0);
    return t;
}

void grace_period_unref(struct grace_period *t)
{
    if (t != NULL && __atomic_fetch_sub(&t->refs, 1, __ATOMIC_ACQ_REL) == 1)
        free(t);
}

unsigned grace_period_enter(struct grace_period *t)
{
    const unsigned side = __atomic_load_n(&t->side, __ATOMIC_SEQ_CST);

    __atomic_fetch_add(&t->inside[side], 1, __ATOMIC_SEQ_CST);
    return side;
}

void grace_period_leave(struct grace_period *t, unsigned side)
{
    const size_t before = __atomic_fetch_sub(&t->inside[side], 1, __ATOMIC_SEQ_CST);

    assert(before > 0);
    (void)before;
}

static bool is_empty(const struct grace_period *t, unsigned side)
{
    return __atomic_load_n(&t->inside[side], __ATOMIC_SEQ_CST) == 0;
}

bool grace_period_turn(struct grace_period *t, uint64_t floor)
{
    const unsigned side = __atomic_load_n(&t->side, __ATOMIC_SEQ_CST);

    if (!is_empty(t, 1 - side))
        return false;
    if (floor > grace_period_floor(t))
        __atomic_store_n(&t->floor, floor, __ATOMIC_SEQ_CST);
    __atomic_store_n(&t->side, 1 - side, __ATOMIC_SEQ_CST);
    return true;
}

bool grace_period_is_clear(const struct grace_period *t)
{
    return is_empty(t, 1 - __atomic_load_n(&t->side, __ATOMIC_SEQ_CST));
}

uint64_t grace_period_floor(const struct grace_period *t)
{
    return __atomic_load_n(&t->floor, __ATOMIC_SEQ_CST);
}
