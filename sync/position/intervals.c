#include "config.h"

#include "sync/position/intervals.h"

#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

void intervals_fini(struct intervals *s)
{
    free(s->list);
    *s = (struct intervals){0};
}

/* The array always has room for a power of two. */
static size_t capacity(size_t n)
{
    size_t cap = 1;

    while (cap < n)
        cap *= 2;
    return cap;
}

struct intervals intervals_copy(const struct intervals *s)
{
    struct intervals copy = {mem_alloc(capacity(s->n), sizeof(*s->list)), s->n};

    if (s->n > 0)
        memcpy(copy.list, s->list, s->n * sizeof(*s->list));
    return copy;
}

/* Find the first interval that ends at or after n: n touches it or lies before it. */
static size_t index_of(const struct intervals *s, uint64_t n)
{
    size_t low = 0, high = s->n;

    /* New ids nearly always follow the last one. */
    if (high > 0 && s->list[high - 1].start <= n)
        return s->list[high - 1].end >= n ? high - 1 : high;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (s->list[mid].end < n)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void intervals_add(struct intervals *s, struct interval add)
{
    const size_t first = index_of(s, add.start);
    size_t after = first;

    while (after < s->n && s->list[after].start <= add.end) {
        if (s->list[after].start < add.start)
            add.start = s->list[after].start;
        if (s->list[after].end > add.end)
            add.end = s->list[after].end;
        after++;
    }
    if (after == first && (s->n == 0 || capacity(s->n) == s->n))
        s->list = mem_resize(s->list, capacity(s->n + 1), sizeof(*s->list));

    const size_t tail = s->n - after;

    if (tail > 0 && after != first + 1)
        memmove(&s->list[first + 1], &s->list[after], tail * sizeof(*s->list));
    s->list[first] = add;
    s->n = first + 1 + tail;
}

bool intervals_has(const struct intervals *s, struct interval v)
{
    const size_t i = index_of(s, v.start + 1);

    return i < s->n && s->list[i].start <= v.start && s->list[i].end >= v.end;
}

void intervals_add_missing(struct intervals *s, struct interval v,
                           const struct intervals *other)
{
    for (size_t i = index_of(other, v.start); v.start < v.end && i < other->n; i++) {
        const struct interval have = other->list[i];

        if (have.start >= v.end)
            break;
        if (have.start > v.start)
            intervals_add(s, (struct interval){v.start, have.start});
        if (have.end > v.start)
            v.start = have.end;
    }
    if (v.start < v.end)
        intervals_add(s, v);
}

bool intervals_equal(const struct intervals *a, const struct intervals *b)
{
    return a->n == b->n &&
           (a->n == 0 || memcmp(a->list, b->list, a->n * sizeof(*a->list)) == 0);
}
