/*
 * What a zone does after the last transition that its file lists: the text at the end of a
 * zoneinfo file, as POSIX has it in TZ ("CET-1CEST,M3.5.0,M10.5.0/3").  Only zone.c uses it.
 *
 * Pure.
 */
#ifndef SRC_FORMAT_ZONE_RULE_H
#define SRC_FORMAT_ZONE_RULE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* A date in each year, and the local time of the change there. */
struct zone_change {
    char kind; /* 'M': week and day of the week of a month; 'J': 1 to 365; 'D': 0 to 365 */
    unsigned month, week, day;
    int64_t time; /* seconds after midnight; may be negative, or above a day */
};

struct zone_rule {
    int64_t offset, summer_offset; /* seconds east of UTC */
    bool has_summer;
    struct zone_change begin, end; /* of the summer */
};

bool zone_rule_parse(struct str text, struct zone_rule *out) MUST_CHECK;
int64_t zone_rule_offset(const struct zone_rule *r, int64_t time);

/* Days since 1970-01-01 of a date in the calendar of today. */
int64_t zone_days(int64_t year, unsigned month, unsigned day);
int64_t zone_year(int64_t day);

#endif
