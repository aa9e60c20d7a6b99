#include "config.h"

#include "sync/delivery/index/limiter.h"

#define BYTES_MIN   ((size_t)64 << 10)
#define BYTES_START ((size_t)1 << 20)
#define BYTES_FIRST ((size_t)16 << 10) /* after a failure */
#define WIDTH_START 4
#define QUICK_MS    250  /* answered faster: send larger batches */
#define SLOW_MS     1000 /* answered more slowly: send smaller ones */
#define GOOD_ROUNDS 8    /* good answers per concurrent request before one more is tried */

void limiter_init(struct limiter *l, size_t bytes_max, unsigned width_max)
{
    *l = (struct limiter){
        .bytes = bytes_max < BYTES_START ? bytes_max : BYTES_START,
        .aim = bytes_max < BYTES_START ? bytes_max : BYTES_START,
        .bytes_max = bytes_max,
        .width = width_max < WIDTH_START ? width_max : WIDTH_START,
        .width_max = width_max,
    };
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void set_aim(struct limiter *l, size_t bytes)
{
    l->aim = smaller(bytes > BYTES_MIN ? bytes : BYTES_MIN, l->bytes_max);
    l->bytes = smaller(l->bytes, l->aim);
}

void limiter_set(struct limiter *l, size_t bytes_max, unsigned width_max)
{
    l->bytes_max = bytes_max;
    set_aim(l, l->aim);
    l->width_max = width_max;
    if (l->width > width_max)
        l->width = width_max;
}

/* A batch that was not full does not show that a larger one is fine. */
static void grow(struct limiter *l, int64_t took_ms)
{
    if (l->bytes < l->aim) {
        l->bytes = smaller(2 * l->bytes, l->aim);
    } else if (took_ms < QUICK_MS) {
        set_aim(l, l->aim + l->aim / 8);
        l->bytes = l->aim;
    }
}

void limiter_good(struct limiter *l, size_t bytes, int64_t took_ms)
{
    if (took_ms > SLOW_MS)
        set_aim(l, l->aim - l->aim / 8);
    else if (bytes >= l->bytes / 2)
        grow(l, took_ms);
    if (++l->n_good < GOOD_ROUNDS * l->width)
        return;
    l->n_good = 0;
    if (l->width < l->width_max)
        l->width++;
}

void limiter_busy(struct limiter *l)
{
    set_aim(l, l->aim / 2);
    l->width = l->width > 1 ? l->width / 2 : 1;
    l->n_good = 0;
}

void limiter_failed(struct limiter *l)
{
    limiter_busy(l);
    l->bytes = smaller(l->bytes, BYTES_FIRST);
}

void limiter_too_large(struct limiter *l, size_t bytes)
{
    if (bytes / 2 < l->bytes_max)
        l->bytes_max = bytes / 2;
    set_aim(l, l->aim);
}
