#include "config.h"

#include "src/metric/timeline.h"

#include <assert.h>
#include <math.h>

static void add(struct timeline_slot *slot, size_t column, enum timeline_rule rule, double v)
{
    const uint16_t n = slot->n[column];
    float *value = &slot->values[column];

    if (n == 0)
        *value = (float)v;
    else if (rule == TIMELINE_MOST)
        *value = (float)v > *value ? (float)v : *value;
    else
        *value += ((float)v - *value) / (float)(n + 1);
    slot->n[column] = n < UINT16_MAX ? (uint16_t)(n + 1) : n;
}

static void put(struct timeline_slot *slots, size_t n, int64_t step, const struct timeline *t,
                const double values[TIMELINE_COLUMNS])
{
    struct timeline_slot *slot = &slots[(uint64_t)step % n];

    if (slot->step > step + 1)
        return;
    if (slot->step < step + 1)
        *slot = (struct timeline_slot){.step = step + 1};
    for (size_t i = 0; i < TIMELINE_COLUMNS; i++)
        if (isfinite(values[i]))
            add(slot, i, t->rules[i], values[i]);
}

void timeline_put(struct timeline *t, int64_t step, const double values[TIMELINE_COLUMNS])
{
    assert(step >= 0);
    put(t->fine, TIMELINE_FINE, step, t, values);
    put(t->coarse, TIMELINE_COARSE, step / TIMELINE_WIDE, t, values);
}

static double get(const struct timeline_slot *slots, size_t n, int64_t step, size_t column)
{
    const struct timeline_slot *slot = &slots[step < 0 ? 0 : (uint64_t)step % n];

    assert(column < TIMELINE_COLUMNS);
    if (step < 0 || slot->step != step + 1 || slot->n[column] == 0)
        return (double)NAN;
    return (double)slot->values[column];
}

double timeline_fine(const struct timeline *t, int64_t step, size_t column)
{
    return get(t->fine, TIMELINE_FINE, step, column);
}

double timeline_coarse(const struct timeline *t, int64_t wide, size_t column)
{
    return get(t->coarse, TIMELINE_COARSE, wide, column);
}
