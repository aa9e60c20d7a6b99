/*
 * Counters and timings in the forms in which we show them: a total with its last minute, and a
 * distribution.
 *
 * @thread any; writing JSON: the writer's owner
 */
#ifndef SRC_METRIC_STATISTIC_H
#define SRC_METRIC_STATISTIC_H

#include "src/base/base.h"
#include "src/base/minute.h"
#include "src/base/str.h"

#include <stdint.h>

struct histogram;
struct json_writer;

/* Zero-initialise. */
struct statistic {
    uint64_t total; /* atomic */
    struct minute minute;
};

/* now_ms is monotonic. */
void statistic_add(struct statistic *s, int64_t now_ms, uint64_t n);
uint64_t statistic_total(const struct statistic *s);

/* Writes "name":{"total":7,"last_minute":2}. */
void statistic_put(struct json_writer *w, struct str name, const struct statistic *s,
                   int64_t now_ms);
/*
 * Writes "name":{"count":9,"min":…,"mean":…,"median":…,"p95":…,"p99":…,"p999":…,"max":…}. Other
 * threads may add to h meanwhile. Divides each value by per_unit.
 */
void statistic_put_times(struct json_writer *w, struct str name, const struct histogram *h,
                         double per_unit);

#endif
