/*
 * struct zone: a time zone, and its days.
 *
 * From the bytes of a zoneinfo file (TZif, RFC 8536), or a fixed offset.  A day begins at the
 * first instant whose local date is that day or a later one: at 1:00 where the clock skips
 * midnight, at once where it skips the whole day, at the first midnight where the clock goes
 * back over it.  So days have no gap and no overlap, and each instant is in one.
 *
 * Days are numbers: days since 1970-01-01.  Times are seconds since 1970-01-01 UTC.  Pure;
 * immutable.
 */
#ifndef SRC_FORMAT_ZONE_H
#define SRC_FORMAT_ZONE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct zone;

/* UTC or an offset like +08:00.  NULL: the text is neither. */
struct zone *zone_fixed(struct str text) MUST_CHECK;
/* Copies what it needs.  ERR_REJECT if the bytes are no zoneinfo. */
bool zone_parse(struct str tzif, struct zone **out, struct err *err) MUST_CHECK;
void zone_free(struct zone *z); /* NULL is allowed */

/* Seconds east of UTC. */
int64_t zone_offset(const struct zone *z, int64_t time);
int64_t zone_day(const struct zone *z, int64_t time);
int64_t zone_midnight(const struct zone *z, int64_t day);

/* "2026-11-26"; false if that is no date. */
bool day_parse(struct str text, int64_t *day) MUST_CHECK;
void day_append(struct buf *b, int64_t day);

#endif
