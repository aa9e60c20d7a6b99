#include "config.h"

#include "sync/delivery/index/limiter.h"

#define BYTES_MIN   ((size_t)64 << 10)
#define BYTES_START ((size_t)1 << 20)
#define WIDTH_START 4
#define QUICK_MS    250  /* answered faster: send larger batches */
#define SLOW_MS     1000 /* answered more slowly: send smaller ones */
#define GOOD_ROUNDS 8    /* good answers per concurrent request before one more is tried */

void limiter_init(struct limiter *l, size_t bytes_max, unsigned width_max)
{
    *l = (struct limiter){
        .bytes = bytes_max < BYTES_START ? bytes_max : BYTES_START,
        .bytes_max = bytes_max,
        .width = width_max < WIDTH_START ? width_max : WIDTH_START,
        .width_max = width_max,
    };
}

static void set_bytes(struct limiter *l, size_t bytes)
{
    if (bytes < BYTES_MIN)
        bytes = BYTES_MIN;
    l->bytes = bytes < l->bytes_max ? bytes : l->bytes_max;
}

void limiter_set(struct limiter *l, size_t bytes_max, unsigned width_max)
{
    l->bytes_max = bytes_max;
    set_bytes(l, l->bytes);
    l->width_max = width_max;
    if (l->width > width_max)
        l->width = width_max;
}

void limiter_good(struct limiter *l, size_t bytes, int64_t took_ms)
{
    /* A batch that was not full does not show that a larger one is fine. */
    if (took_ms < QUICK_MS && bytes >= l->bytes / 2)
        set_bytes(l, l->bytes + l->bytes / 8);
    else if (took_ms > SLOW_MS)
        set_bytes(l, l->bytes - l->bytes / 8);
    if (++l->n_good < GOOD_ROUNDS * l->width)
        return;
    l->n_good = 0;
    if (l->width < l->width_max)
        l->width++;
}

void limiter_busy(struct limiter *l)
{
    set_bytes(l, l->bytes / 2);
    l->width = l->width > 1 ? l->width / 2 : 1;
    l->n_good = 0;
}

void limiter_too_large(struct limiter *l, size_t bytes)
{
    if (bytes / 2 < l->bytes_max)
        l->bytes_max = bytes / 2;
    set_bytes(l, l->bytes);
}
