#include "config.h"

#include "sync/delivery/turnstile.h"

#include <assert.h>

unsigned turnstile_enter(struct turnstile *t)
{
    const unsigned side = __atomic_load_n(&t->side, __ATOMIC_SEQ_CST);

    __atomic_fetch_add(&t->inside[side], 1, __ATOMIC_SEQ_CST);
    return side;
}

void turnstile_leave(struct turnstile *t, unsigned side)
{
    const size_t before = __atomic_fetch_sub(&t->inside[side], 1, __ATOMIC_SEQ_CST);

    assert(before > 0);
    (void)before;
}

static bool is_empty(const struct turnstile *t, unsigned side)
{
    return __atomic_load_n(&t->inside[side], __ATOMIC_SEQ_CST) == 0;
}

bool turnstile_turn(struct turnstile *t, uint64_t floor)
{
    const unsigned side = __atomic_load_n(&t->side, __ATOMIC_SEQ_CST);

    if (!is_empty(t, 1 - side))
        return false;
    if (floor > turnstile_floor(t))
        __atomic_store_n(&t->floor, floor, __ATOMIC_SEQ_CST);
    __atomic_store_n(&t->side, 1 - side, __ATOMIC_SEQ_CST);
    return true;
}

bool turnstile_is_clear(const struct turnstile *t)
{
    return is_empty(t, 1 - __atomic_load_n(&t->side, __ATOMIC_SEQ_CST));
}

uint64_t turnstile_floor(const struct turnstile *t)
{
    return __atomic_load_n(&t->floor, __ATOMIC_SEQ_CST);
}
