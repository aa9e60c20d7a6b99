/*
 * Metrics as Prometheus text (format 0.0.4).
 *
 * Whoever keeps counters appends samples to a buffer, in any order:
 *
 *     metric_put_u64(out, METRIC_BINLOG_EVENTS, n, STR("shop"), STR("insert"));
 *
 * Label values follow in the order of metric.def. metric_render() then groups all samples by
 * metric, as the format demands, below their HELP and TYPE lines.
 *
 * @thread any: no state here
 */
#ifndef SRC_METRIC_METRIC_H
#define SRC_METRIC_METRIC_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct histogram;

enum metric {
#define METRIC(id, name, type, labels, help)                   METRIC_##id,
#define HISTOGRAM(id, name, labels, per_unit, low, high, help) METRIC_##id,
#include "src/metric/metric.def"
#undef METRIC
#undef HISTOGRAM
    N_METRICS,
};

/* Each appends one sample; the arguments after the value are the label values (struct str). */
#define metric_put_u64(out, metric, v, ...) \
    metric_append_u64((out), (metric), (v), METRIC_LABELS(__VA_ARGS__))
#define metric_put_double(out, metric, v, ...) \
    metric_append_double((out), (metric), (v), METRIC_LABELS(__VA_ARGS__))
#define metric_put_histogram(out, metric, snapshot, ...) \
    metric_append_histogram((out), (metric), (snapshot), METRIC_LABELS(__VA_ARGS__))

/* Appends version, CPU, memory, file descriptors and start time of this process. */
void metric_put_process(struct buf *out);

/* Renders the whole page from all samples. */
void metric_render(struct buf *out, struct str samples);

const char *metric_name(enum metric metric);

#define METRIC_LABELS(...)                              \
    (const struct str[]){{NULL, 0}, ##__VA_ARGS__} + 1, \
        ARRAY_LEN(((const struct str[]){{NULL, 0}, ##__VA_ARGS__})) - 1

void metric_append_u64(struct buf *out, enum metric metric, uint64_t v,
                       const struct str *labels, size_t n);
void metric_append_double(struct buf *out, enum metric metric, double v,
                          const struct str *labels, size_t n);
/* h is a snapshot (src/base/histogram.h). */
void metric_append_histogram(struct buf *out, enum metric metric, const struct histogram *h,
                             const struct str *labels, size_t n);

#endif
