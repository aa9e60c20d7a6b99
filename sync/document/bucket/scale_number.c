#include "config.h"

#include "sync/document/bucket/scale_number.h"

#include "src/base/buf.h"
#include "sync/document/key.h"
#include "sync/value/schema.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MICROSECONDS 1000000

static void copy(char *out, size_t size, struct str text)
{
    const size_t len = text.len < size - 1 ? text.len : size - 1;

    memcpy(out, text.ptr, len);
    out[len] = '\0';
}

/* ---- reals: their bits rise with them, or fall if they are negative ---- */

static void real_to_number(struct str value, struct buf *number)
{
    char text[64];
    uint64_t bits;

    copy(text, sizeof(text), value);

    const double d = strtod(text, NULL);

    memcpy(&bits, &d, sizeof(bits));
    buf_append_u64(number, bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63);
}

static void real_from_number(uint64_t number, struct buf *value)
{
    const uint64_t bits = number >> 63 != 0 ? number & ~(UINT64_C(1) << 63) : ~number;
    double d;

    memcpy(&d, &bits, sizeof(d));
    buf_printf(value, "%.17g", d);
}

/* ---- times ---- */

static const unsigned counts[] = {10000, 13, 32, 24, 60, 60, MICROSECONDS};
enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, FRACTION, FIELDS };

/* Take digits and what comes after them, if more does. */
static uint64_t take_digits(struct str *text, size_t *n)
{
    uint64_t u = 0;

    for (*n = 0; *n < text->len && *n < 6 && text->ptr[*n] >= '0' && text->ptr[*n] <= '9'; ++*n)
        u = u * 10 + (uint64_t)(text->ptr[*n] - '0');

    const size_t used = *n < text->len ? *n + 1 : *n;

    text->ptr += used;
    text->len -= used;
    return u;
}

/* Append the number of `2024-01-02T03:04:05.6`, from the year or the hour on. */
static void time_to_number(struct str value, size_t from, struct buf *number)
{
    const bool negative = value.len > 0 && value.ptr[0] == '-';
    uint64_t sum = 0;
    size_t n;

    if (negative) {
        value.ptr++;
        value.len--;
    }
    for (size_t i = from; i < FIELDS; i++) {
        uint64_t u = take_digits(&value, &n);

        for (; i == FRACTION && n < 6; n++)
            u *= 10;
        sum = sum * (i == from ? 1 : counts[i]) + u;
    }
    buf_printf(number, "%s%" PRIu64, negative ? "-" : "", sum);
}

static uint64_t days_of(uint64_t year, uint64_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 && leap ? 29 : days[month - 1];
}

/* Make a day of the calendar of the fields: the last one before them. */
static void find_day(uint64_t f[FIELDS])
{
    if (f[MONTH] == 0) {
        f[MONTH] = f[DAY] = 1;
    } else if (f[DAY] == 0) {
        f[DAY] = 1;
    } else if (f[DAY] > days_of(f[YEAR], f[MONTH])) {
        f[DAY] = days_of(f[YEAR], f[MONTH]);
        f[HOUR] = 23;
        f[MINUTE] = f[SECOND] = 59;
        f[FRACTION] = MICROSECONDS - 1;
    }
}

static void append_fraction(struct buf *value, uint64_t microseconds, unsigned digits)
{
    char text[8];

    if (digits == 0)
        return;
    snprintf(text, sizeof(text), "%06u", (unsigned)(microseconds % MICROSECONDS));
    buf_printf(value, ".%.*s", (int)digits, text);
}

static void time_from_number(const struct column *c, uint64_t number, size_t from,
                             struct buf *value)
{
    uint64_t f[FIELDS] = {0};

    for (size_t i = FIELDS; i-- > from;) {
        f[i] = i == from ? number : number % counts[i];
        number /= counts[i];
    }
    if (from == YEAR) {
        find_day(f);
        buf_printf(value, "%04u-%02u-%02u", (unsigned)f[YEAR], (unsigned)f[MONTH],
                   (unsigned)f[DAY]);
    }
    if (c->type == COLUMN_DATE)
        return;
    buf_append(value, from == YEAR ? STR("T") : STR(""));
    buf_printf(value, "%02u:%02u:%02u", (unsigned)f[HOUR], (unsigned)f[MINUTE],
               (unsigned)f[SECOND]);
    append_fraction(value, f[FRACTION], c->fsp);
}

/* ---- addresses ---- */

static void inet4_to_number(struct str value, struct buf *number)
{
    uint64_t u = 0;
    size_t n;

    for (size_t i = 0; i < 4; i++)
        u = u << 8 | (take_digits(&value, &n) & 0xff);
    buf_append_u64(number, u);
}

static void inet4_from_number(uint64_t u, struct buf *value)
{
    buf_printf(value, "%u.%u.%u.%u", (unsigned)(u >> 24 & 0xff), (unsigned)(u >> 16 & 0xff),
               (unsigned)(u >> 8 & 0xff), (unsigned)(u & 0xff));
}

/* ---- any ---- */

bool scale_to_number(const struct column *c, struct str value, struct buf *number)
{
    if (c->type == COLUMN_ENUM) {
        buf_append_u64(number, key_sort_number(c, value));
        return true;
    }
    switch (key_class_of(c)) {
    case KEY_NUMBER:
    case KEY_YEAR: buf_append(number, value); return true;
    case KEY_REAL: real_to_number(value, number); return true;
    case KEY_DATE:
    case KEY_DATETIME: time_to_number(value, YEAR, number); return true;
    case KEY_TIME: time_to_number(value, HOUR, number); return true;
    case KEY_INET4: inet4_to_number(value, number); return true;
    case KEY_TEXT:
    case KEY_BYTES:
    case KEY_UUID:
    case KEY_INET6:
    case KEY_NONE: break;
    }
    return false;
}

void scale_from_number(const struct column *c, struct str number, struct buf *value)
{
    char text[32];
    uint64_t u;

    copy(text, sizeof(text), number);
    u = strtoull(text[0] == '-' ? text + 1 : text, NULL, 10);
    if (c->type == COLUMN_ENUM) {
        buf_append(value, u >= 1 && u <= c->n_labels ? c->labels[u - 1] : STR(""));
        return;
    }
    switch (key_class_of(c)) {
    case KEY_REAL: real_from_number(u, value); return;
    case KEY_DATE:
    case KEY_DATETIME: time_from_number(c, u, YEAR, value); return;
    case KEY_TIME:
        buf_append(value, text[0] == '-' ? STR("-") : STR(""));
        time_from_number(c, u, HOUR, value);
        return;
    case KEY_INET4: inet4_from_number(u, value); return;
    case KEY_NUMBER:
    case KEY_YEAR:
    case KEY_TEXT:
    case KEY_BYTES:
    case KEY_UUID:
    case KEY_INET6:
    case KEY_NONE: break;
    }
    buf_append(value, number);
}
