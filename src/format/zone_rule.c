#include "config.h"

#include "src/format/zone_rule.h"

#define DAY_S 86400

/* ---- the calendar ---- */

/* Years begin in March here, so that a leap day is the last of its year. */
int64_t zone_days(int64_t year, unsigned month, unsigned day)
{
    const int64_t y = year - (month <= 2);
    const int64_t era = (y >= 0 ? y : y - 399) / 400;
    const int64_t of_era = y - era * 400;
    const int64_t of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

int64_t zone_year(int64_t day)
{
    int64_t year = 1970 + day * 400 / 146097;

    while (zone_days(year + 1, 1, 1) <= day)
        year++;
    while (zone_days(year, 1, 1) > day)
        year--;
    return year;
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* ---- the text ---- */

static bool take(struct str *s, char c)
{
    if (s->len == 0 || s->ptr[0] != c)
        return false;
    s->ptr++;
    s->len--;
    return true;
}

static bool is_digit(const struct str *s)
{
    return s->len > 0 && s->ptr[0] >= '0' && s->ptr[0] <= '9';
}

static bool take_number(struct str *s, unsigned max, unsigned *out)
{
    *out = 0;
    if (!is_digit(s))
        return false;
    for (; is_digit(s) && *out <= max; s->ptr++, s->len--)
        *out = *out * 10 + (unsigned)(s->ptr[0] - '0');
    return *out <= max;
}

/* [+-]h[h][:mm[:ss]], up to a week in files of version 3. */
static bool take_time(struct str *s, int64_t *seconds)
{
    const bool is_negative = take(s, '-');
    unsigned h, m = 0, sec = 0;

    if (!is_negative)
        (void)take(s, '+');
    if (!take_number(s, 167, &h) || (take(s, ':') && !take_number(s, 59, &m)) ||
        (take(s, ':') && !take_number(s, 59, &sec)))
        return false;
    *seconds = (int64_t)h * 3600 + (int64_t)m * 60 + sec;
    if (is_negative)
        *seconds = -*seconds;
    return true;
}

/* CET or <+03> */
static bool take_name(struct str *s)
{
    const bool is_quoted = take(s, '<');
    size_t n = 0;

    while (n < s->len && (is_quoted ? s->ptr[n] != '>'
                                    : (s->ptr[n] >= 'A' && s->ptr[n] <= 'Z') ||
                                          (s->ptr[n] >= 'a' && s->ptr[n] <= 'z')))
        n++;
    s->ptr += n;
    s->len -= n;
    return n > 0 && (!is_quoted || take(s, '>'));
}

static bool take_change(struct str *s, struct zone_change *c)
{
    *c = (struct zone_change){.kind = 'D', .time = 7200};
    if (!take(s, ','))
        return false;
    if (take(s, 'M')) {
        c->kind = 'M';
        if (!take_number(s, 12, &c->month) || c->month == 0 || !take(s, '.') ||
            !take_number(s, 5, &c->week) || c->week == 0 || !take(s, '.') ||
            !take_number(s, 6, &c->day))
            return false;
    } else {
        c->kind = take(s, 'J') ? 'J' : 'D';
        if (!take_number(s, 365, &c->day) || (c->kind == 'J' && c->day == 0))
            return false;
    }
    return !take(s, '/') || take_time(s, &c->time);
}

bool zone_rule_parse(struct str text, struct zone_rule *out)
{
    *out = (struct zone_rule){0};
    if (!take_name(&text) || !take_time(&text, &out->offset))
        return false;
    out->offset = -out->offset; /* POSIX counts to the west */
    if (text.len == 0)
        return true;
    out->has_summer = true;
    out->summer_offset = out->offset + 3600;
    if (!take_name(&text))
        return false;
    if (text.len > 0 && text.ptr[0] != ',') {
        if (!take_time(&text, &out->summer_offset))
            return false;
        out->summer_offset = -out->summer_offset;
    }
    return take_change(&text, &out->begin) && take_change(&text, &out->end) && text.len == 0;
}

/* ---- its meaning ---- */

/* The day of the week; 0: Sunday. */
static unsigned weekday(int64_t day)
{
    return (unsigned)(((day + 4) % 7 + 7) % 7);
}

static int64_t day_of_change(const struct zone_change *c, int64_t year)
{
    const int64_t first = zone_days(year, 1, 1);

    if (c->kind == 'D')
        return first + c->day;
    if (c->kind == 'J') /* the leap day is never counted */
        return first + c->day - 1 + (is_leap(year) && c->day >= 60);

    const int64_t month = zone_days(year, c->month, 1),
                  next = c->month == 12 ? zone_days(year + 1, 1, 1)
                                        : zone_days(year, c->month + 1, 1);
    int64_t day = month + (c->day + 7 - weekday(month)) % 7 + (int64_t)(c->week - 1) * 7;

    while (day >= next) /* the fifth is the last one */
        day -= 7;
    return day;
}

int64_t zone_rule_offset(const struct zone_rule *r, int64_t time)
{
    if (!r->has_summer)
        return r->offset;

    const int64_t local = time + r->offset;
    const int64_t year = zone_year((local >= 0 ? local : local - DAY_S + 1) / DAY_S);
    const int64_t begin = day_of_change(&r->begin, year) * DAY_S + r->begin.time - r->offset;
    const int64_t end = day_of_change(&r->end, year) * DAY_S + r->end.time - r->summer_offset;
    const bool is_summer =
        begin < end ? time >= begin && time < end : time >= begin || time < end;

    return is_summer ? r->summer_offset : r->offset;
}
