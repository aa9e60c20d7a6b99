#include "config.h"

#include "src/metric/statistic.h"

#include "src/base/histogram.h"
#include "src/format/json.h"

void statistic_add(struct statistic *s, int64_t now_ms, uint64_t n)
{
    __atomic_fetch_add(&s->total, n, __ATOMIC_RELAXED);
    minute_add(&s->minute, now_ms, n);
}

uint64_t statistic_total(const struct statistic *s)
{
    return __atomic_load_n(&s->total, __ATOMIC_RELAXED);
}

void statistic_put(struct json_writer *w, struct str name, const struct statistic *s,
                   int64_t now_ms)
{
    json_write_key(w, name);
    json_open_object(w);
    json_put_u64(w, STR("total"), statistic_total(s));
    json_put_u64(w, STR("last_minute"), minute_sum(&s->minute, now_ms));
    json_close_object(w);
}

void statistic_put_times(struct json_writer *w, struct str name, const struct histogram *h,
                         double per_unit)
{
    static const struct {
        const char *name;
        double share;
    } quantiles[] = {{"median", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}};
    struct histogram now;

    histogram_snapshot(h, &now);
    json_write_key(w, name);
    json_open_object(w);
    json_put_u64(w, STR("count"), histogram_count(&now));
    json_put_double(w, STR("min"), (double)histogram_min(&now) / per_unit);
    json_put_double(w, STR("mean"), histogram_mean(&now) / per_unit);
    for (size_t i = 0; i < ARRAY_LEN(quantiles); i++)
        json_put_double(w, str_from(quantiles[i].name),
                        (double)histogram_quantile(&now, quantiles[i].share) / per_unit);
    json_put_double(w, STR("max"), (double)histogram_max(&now) / per_unit);
    json_close_object(w);
}
