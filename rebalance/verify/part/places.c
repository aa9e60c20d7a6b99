#include "config.h"

#include "rebalance/verify/part/places.h"

#include "src/base/buf.h"
#include "src/base/random.h"

#include <inttypes.h>
#include <stdlib.h>

#define PLACES  100 /* if the runs may be as short as that */
#define RUN_MAX 500

static uint64_t at_least_one(uint64_t n)
{
    return n < 1 ? 1 : n;
}

struct sample_sizes sample_sizes(uint64_t asked, uint64_t total, size_t n_tables)
{
    const uint64_t half = (asked + 1) / 2;
    const uint64_t run = at_least_one(half / PLACES < RUN_MAX ? half / PLACES : RUN_MAX);

    if (total <= asked)
        return (struct sample_sizes){.is_whole = true, total, 1, asked};
    return (struct sample_sizes){
        .documents = half, .places = at_least_one(half / run / n_tables), .run = run};
}

void sample_append_query(struct buf *json, uint64_t n, uint64_t total, uint32_t seed)
{
    if (n >= total)
        buf_append(json, STR("{\"match_all\":{}}"));
    else
        buf_printf(json,
                   "{\"function_score\":{\"query\":{\"match_all\":{}},\"random_score\":"
                   "{\"seed\":%" PRIu32 ",\"field\":\"_seq_no\"},\"boost_mode\":\"replace\","
                   "\"min_score\":%.9f}}",
                   seed & INT32_MAX, 1 - (double)n / (double)total);
}

/* The same order as that of the numbers, whatever their sign. */
static uint64_t from_text(struct str text)
{
    return text.len > 0 && text.ptr[0] == '-' ? (uint64_t)strtoll(text.ptr, NULL, 10)
                                              : strtoull(text.ptr, NULL, 10);
}

bool sample_append_number(struct buf *text, struct str least, struct str greatest,
                          struct random *r)
{
    const bool is_signed = least.len > 0 && least.ptr[0] == '-';
    const uint64_t from = from_text(least), width = from_text(greatest) - from;

    if (least.len == 0 || width == 0)
        return false;

    const uint64_t number = from + random_below(r, width);

    if (is_signed)
        buf_printf(text, "%" PRIi64, (int64_t)number);
    else
        buf_append_u64(text, number);
    return true;
}
