#include "config.h"

#include "src/base/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void human_count(struct buf *b, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            buf_append_char(b, ',');
        buf_append_char(b, digits[i]);
    }
}

void human_bytes(struct buf *b, uint64_t n)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)n / 1024;
    size_t unit = 0;

    if (n < 1024) {
        buf_printf(b, "%" PRIu64 " B", n);
        return;
    }
    /* printf would round 1023.95 to 1024.0. */
    while (value >= 1023.95 && unit + 1 < ARRAY_LEN(units)) {
        value /= 1024;
        unit++;
    }
    buf_printf(b, "%.1f %s", value, units[unit]);
}

void human_seconds(struct buf *b, double seconds)
{
    static const struct {
        uint64_t big, small;
        const char *big_name, *small_name;
    } scales[] = {
        {86400, 3600, "d", "h"},
        {3600, 60, "h", "min"},
        {60, 1, "min", "s"},
    };

    if (!(seconds >= 0) || seconds > 1e12) {
        buf_append(b, STR("-"));
        return;
    }
    if (seconds < 9.95) {
        buf_printf(b, "%.1f s", seconds);
        return;
    }

    uint64_t whole = (uint64_t)(seconds + 0.5);

    for (size_t i = 0; i < ARRAY_LEN(scales); i++) {
        if (whole < scales[i].big)
            continue;
        buf_printf(b, "%" PRIu64 " %s %" PRIu64 " %s", whole / scales[i].big,
                   scales[i].big_name, whole % scales[i].big / scales[i].small,
                   scales[i].small_name);
        return;
    }
    buf_printf(b, "%" PRIu64 " s", whole);
}

double human_percent(uint64_t done, uint64_t total)
{
    if (total == 0)
        return 0;
    if (done >= total)
        return 100;

    double percent = 100.0 * (double)done / (double)total;

    return percent < 99.9 ? percent : 99.9;
}

void human_time(struct buf *b, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;

    if (ms <= 0 || gmtime_r(&seconds, &tm) == NULL) {
        buf_append(b, STR("-"));
        return;
    }
    buf_printf(b, "%04d-%02d-%02d %02d:%02d:%02d UTC", tm.tm_year + 1900, tm.tm_mon + 1,
               tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}
