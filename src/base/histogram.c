#include "config.h"

#include "src/base/histogram.h"

#include <stdbool.h>

/*
 * Buckets 0 to 3 hold the values up to 1, 2, 3, 4. Above, four buckets of equal width divide
 * each doubling (2^k, 2^(k+1)]. A bucket includes its upper bound.
 */
static size_t bucket_of(uint64_t v)
{
    uint64_t x = v > 0 ? v - 1 : 0;

    if (x < 4)
        return (size_t)x;

    unsigned k = 63 - (unsigned)__builtin_clzll(x); /* x is in [2^k, 2^(k+1)) */

    return (size_t)(k - 1) * 4 + (x >> (k - 2) & 3);
}

/* Returns the largest value of the bucket. */
static uint64_t bound_of(size_t bucket)
{
    if (bucket < 4)
        return bucket + 1;

    size_t k = bucket / 4 + 1;
    uint64_t below_next = (UINT64_C(4) + bucket % 4 + 1) << (k - 2);

    return below_next != 0 ? below_next : UINT64_MAX; /* the last one wraps around */
}

static void raise_to(uint64_t *most, uint64_t v)
{
    uint64_t now = __atomic_load_n(most, __ATOMIC_RELAXED);

    while (now < v && !__atomic_compare_exchange_n(most, &now, v, true, __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED))
        ;
}

void histogram_add(struct histogram *h, uint64_t v)
{
    __atomic_add_fetch(&h->counts[bucket_of(v)], 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&h->sum, v, __ATOMIC_RELAXED);
    raise_to(&h->max, v);
    raise_to(&h->min_inverted, UINT64_MAX - v);
}

void histogram_snapshot(const struct histogram *h, struct histogram *out)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        out->counts[i] = __atomic_load_n(&h->counts[i], __ATOMIC_RELAXED);
    out->sum = __atomic_load_n(&h->sum, __ATOMIC_RELAXED);
    out->max = __atomic_load_n(&h->max, __ATOMIC_RELAXED);
    out->min_inverted = __atomic_load_n(&h->min_inverted, __ATOMIC_RELAXED);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->counts[i] += from->counts[i];
    into->sum += from->sum;
    raise_to(&into->max, from->max);
    raise_to(&into->min_inverted, from->min_inverted);
}

uint64_t histogram_count(const struct histogram *h)
{
    uint64_t n = 0;

    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        n += h->counts[i];
    return n;
}

uint64_t histogram_count_to(const struct histogram *h, uint64_t bound)
{
    uint64_t n = 0;

    for (size_t i = 0; i <= bucket_of(bound); i++)
        n += h->counts[i];
    return n;
}

static uint64_t within(uint64_t v, uint64_t least, uint64_t most)
{
    if (v < least)
        return least;
    return v < most ? v : most;
}

uint64_t histogram_quantile(const struct histogram *h, double q)
{
    double rank = q * (double)histogram_count(h);
    uint64_t n = 0;

    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        n += h->counts[i];
        if (n > 0 && (double)n >= rank)
            return within(bound_of(i), histogram_min(h), histogram_max(h));
    }
    return histogram_max(h);
}

uint64_t histogram_min(const struct histogram *h)
{
    return histogram_count(h) > 0 ? UINT64_MAX - h->min_inverted : 0;
}

uint64_t histogram_max(const struct histogram *h)
{
    return h->max;
}

double histogram_mean(const struct histogram *h)
{
    uint64_t n = histogram_count(h);

    return n > 0 ? (double)h->sum / (double)n : 0;
}
