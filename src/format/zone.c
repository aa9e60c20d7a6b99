#include "config.h"

#include "src/format/zone.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/base/mem.h"
#include "src/format/zone_rule.h"

#include <inttypes.h>
#include <stdlib.h>

#define DAY_S      86400
#define HOUR_S     3600
#define STEP_S     900 /* between looks for a midnight; transitions lie further apart */
#define HEADER_LEN 44
#define TYPE_LEN   6
#define TIMES_MAX  100000

struct transition {
    int64_t at;
    int64_t offset; /* from there on */
};

struct zone {
    int64_t first_offset; /* before the first transition */
    struct transition *times;
    size_t n_times;
    bool has_rule; /* after the last one; else its offset stays */
    struct zone_rule rule;
};

static int64_t floor_day(int64_t seconds)
{
    return (seconds >= 0 ? seconds : seconds - DAY_S + 1) / DAY_S;
}

/* ---- making one ---- */

void zone_free(struct zone *z)
{
    if (z == NULL)
        return;
    free(z->times);
    free(z);
}

static bool two_digits(const char *at, int64_t max, int64_t *out)
{
    if (at[0] < '0' || at[0] > '9' || at[1] < '0' || at[1] > '9')
        return false;
    *out = (at[0] - '0') * 10 + (at[1] - '0');
    return *out <= max;
}

struct zone *zone_fixed(struct str text)
{
    int64_t hours = 0, minutes = 0;

    if (!str_equal(text, STR("UTC")) &&
        (text.len != 6 || (text.ptr[0] != '+' && text.ptr[0] != '-') || text.ptr[3] != ':' ||
         !two_digits(text.ptr + 1, 14, &hours) || !two_digits(text.ptr + 4, 59, &minutes)))
        return NULL;

    struct zone *z = mem_alloc(1, sizeof(*z));

    z->first_offset = (hours * 60 + minutes) * 60;
    if (text.ptr[0] == '-')
        z->first_offset = -z->first_offset;
    return z;
}

/* The numbers of a header, and where its parts lie. */
struct block {
    size_t times, types, chars, leaps, standards, utcs;
    size_t time_len; /* bytes of a time: 4, then 8 */
    const char *data;
};

static size_t block_len(const struct block *b)
{
    return b->times * (b->time_len + 1) + b->types * TYPE_LEN + b->chars +
           b->leaps * (b->time_len + 4) + b->standards + b->utcs;
}

/* Moves *tzif behind the block. */
static bool take_block(struct str *tzif, size_t time_len, struct block *b, char *version)
{
    if (tzif->len < HEADER_LEN || memcmp(tzif->ptr, "TZif", 4) != 0)
        return false;

    const char *at = tzif->ptr;

    *version = at[4];
    *b = (struct block){.utcs = load_be32(at + 20),
                        .standards = load_be32(at + 24),
                        .leaps = load_be32(at + 28),
                        .times = load_be32(at + 32),
                        .types = load_be32(at + 36),
                        .chars = load_be32(at + 40),
                        .time_len = time_len,
                        .data = at + HEADER_LEN};

    const bool fits = b->utcs <= TIMES_MAX && b->standards <= TIMES_MAX &&
                      b->leaps <= TIMES_MAX && b->times <= TIMES_MAX && b->types > 0 &&
                      b->types <= 256 && b->chars <= TIMES_MAX &&
                      block_len(b) <= tzif->len - HEADER_LEN;

    if (fits) {
        tzif->ptr += HEADER_LEN + block_len(b);
        tzif->len -= HEADER_LEN + block_len(b);
    }
    return fits;
}

static bool read_times(const struct block *b, struct zone *z)
{
    const char *indexes = b->data + b->times * b->time_len, *types = indexes + b->times;

    z->first_offset = (int32_t)load_be32(types);
    z->times = mem_alloc(b->times + 1, sizeof(*z->times));
    for (size_t i = 0; i < b->times; i++) {
        const char *at = b->data + i * b->time_len;
        const uint8_t type = (uint8_t)indexes[i];
        const int64_t time =
            b->time_len == 8 ? (int64_t)load_be64(at) : (int64_t)(int32_t)load_be32(at);

        if (type >= b->types || (i > 0 && time <= z->times[i - 1].at))
            return false;
        z->times[z->n_times++] =
            (struct transition){time, (int32_t)load_be32(types + type * TYPE_LEN)};
    }
    return true;
}

/* "\nCET-1CEST,M3.5.0,M10.5.0/3\n"; may be empty between the lines' ends. */
static bool read_footer(struct str rest, struct zone *z)
{
    const char *end =
        rest.len < 2 || rest.ptr[0] != '\n' ? NULL : memchr(rest.ptr + 1, '\n', rest.len - 1);

    if (end == NULL)
        return false;

    const struct str text = {rest.ptr + 1, (size_t)(end - rest.ptr) - 1};

    z->has_rule = text.len > 0;
    return !z->has_rule || zone_rule_parse(text, &z->rule);
}

bool zone_parse(struct str tzif, struct zone **out, struct err *err)
{
    struct zone *z = mem_alloc(1, sizeof(*z));
    struct block b;
    char version;
    bool ok = take_block(&tzif, 4, &b, &version);
    const bool is_long = ok && version >= '2';

    ok = ok && (!is_long || take_block(&tzif, 8, &b, &version)) && read_times(&b, z) &&
         (!is_long || read_footer(tzif, z));
    if (!ok) {
        zone_free(z);
        return err_set(err, ERR_REJECT, "this is not a file of time zone data (TZif)");
    }
    *out = z;
    return true;
}

/* ---- what it says ---- */

int64_t zone_offset(const struct zone *z, int64_t time)
{
    size_t low = 0, high = z->n_times; /* transitions at or before the time */

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (z->times[middle].at <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (z->has_rule && low == z->n_times)
        return zone_rule_offset(&z->rule, time);
    return low == 0 ? z->first_offset : z->times[low - 1].offset;
}

static bool has_begun(const struct zone *z, int64_t day, int64_t time)
{
    return floor_day(time + zone_offset(z, time)) >= day;
}

int64_t zone_midnight(const struct zone *z, int64_t day)
{
    int64_t before = day * DAY_S - 27 * HOUR_S, after = before;

    while (!has_begun(z, day, after)) {
        before = after;
        after += STEP_S;
    }
    while (after - before > 1) {
        const int64_t middle = before + (after - before) / 2;

        if (has_begun(z, day, middle))
            after = middle;
        else
            before = middle;
    }
    return after;
}

int64_t zone_day(const struct zone *z, int64_t time)
{
    int64_t day = floor_day(time + zone_offset(z, time));

    while (zone_midnight(z, day + 1) <= time) /* it began, and the clock went back */
        day++;
    return day;
}

/* ---- names of days ---- */

bool day_parse(struct str text, int64_t *day)
{
    int64_t century, year, month, of_month;

    if (text.len != 10 || text.ptr[4] != '-' || text.ptr[7] != '-' ||
        !two_digits(text.ptr, 99, &century) || !two_digits(text.ptr + 2, 99, &year) ||
        !two_digits(text.ptr + 5, 12, &month) || !two_digits(text.ptr + 8, 31, &of_month) ||
        month == 0 || of_month == 0)
        return false;
    year += century * 100;
    *day = zone_days(year, (unsigned)month, (unsigned)of_month);

    const int64_t next =
        month == 12 ? zone_days(year + 1, 1, 1) : zone_days(year, (unsigned)month + 1, 1);

    return *day < next;
}

void day_append(struct buf *b, int64_t day)
{
    const int64_t year = zone_year(day);
    unsigned month = 12;

    while (zone_days(year, month, 1) > day)
        month--;
    buf_printf(b, "%04" PRId64 "-%02u-%02u", year, month,
               (unsigned)(day - zone_days(year, month, 1)) + 1);
}
