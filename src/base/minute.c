#include "config.h"

#include "src/base/minute.h"

#include <stdbool.h>

#define STEP_MS    5000
#define COUNT_BITS 40
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)

/* Returns the tag by which a slot knows its step. Tags repeat after 2.6 years. */
static uint64_t tag_of(uint64_t step)
{
    return step << COUNT_BITS;
}

static uint64_t step_at(int64_t now_ms)
{
    /* Steps start at 1: 0 marks an untouched slot. */
    return (uint64_t)now_ms / STEP_MS + 1;
}

void minute_add(struct minute *m, int64_t now_ms, uint64_t n)
{
    const uint64_t step = step_at(now_ms), tag = tag_of(step);
    uint64_t *slot = &m->slots[step % MINUTE_SLOTS];
    uint64_t was = __atomic_load_n(slot, __ATOMIC_RELAXED), is;

    do
        is = (was & ~COUNT_MASK) == tag ? was + n : tag | n;
    while (
        !__atomic_compare_exchange_n(slot, &was, is, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

uint64_t minute_sum(const struct minute *m, int64_t now_ms)
{
    const uint64_t step = step_at(now_ms);
    uint64_t sum = 0;

    for (uint64_t back = 0; back < MINUTE_SLOTS && back < step; back++) {
        const uint64_t slot =
            __atomic_load_n(&m->slots[(step - back) % MINUTE_SLOTS], __ATOMIC_RELAXED);

        if ((slot & ~COUNT_MASK) == tag_of(step - back))
            sum += slot & COUNT_MASK;
    }
    return sum;
}
