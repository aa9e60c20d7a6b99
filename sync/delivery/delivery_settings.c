#include "config.h"

#include "sync/delivery/delivery_settings.h"

#include "sync/delivery/fuse.h"

#include <string.h>

struct delivery_settings delivery_settings_of(const struct delivery_options *o)
{
    return (struct delivery_settings){
        .workers = o->workers,
        .helpers = o->helpers,
        .batch_min = o->batch_min,
        .batch_max = o->batch_max,
        .batch_bytes = o->batch_bytes,
        .bytes_max = o->bytes_max,
        .load_batch_max = o->load_batch_max,
        .loads_max = o->loads_max,
        .high_water_mark =
            o->high_water_mark == DELIVERY_MARK_ZERO ? 0 : o->high_water_mark,
        .flush_ms = o->flush_interval_ms,
        .request_timeout_ms = o->request_timeout_ms,
        .read_window_ms = o->read_window_ms,
        .failures = o->failures,
        .failure_window_ms = o->failure_window_ms,
        .reset_after_ms = o->reset_after_ms,
        .drain_timeout_ms = o->drain_timeout_ms,
        .drain_cancel_timeout_ms = o->drain_cancel_timeout_ms,
        .connections = o->connections,
        .purge = o->purge,
        .drain = !o->no_drain,
    };
}

void delivery_settings_put(const struct delivery_settings *s, struct delivery_options *o)
{
    o->workers = s->workers;
    o->helpers = s->helpers;
    o->batch_min = s->batch_min;
    o->batch_max = s->batch_max;
    o->batch_bytes = s->batch_bytes;
    o->bytes_max = s->bytes_max;
    o->load_batch_max = s->load_batch_max;
    o->loads_max = s->loads_max;
    o->high_water_mark = s->high_water_mark == 0 ? DELIVERY_MARK_ZERO : s->high_water_mark;
    o->flush_interval_ms = s->flush_ms;
    o->request_timeout_ms = s->request_timeout_ms;
    o->read_window_ms = s->read_window_ms;
    o->failures = s->failures;
    o->failure_window_ms = s->failure_window_ms;
    o->reset_after_ms = s->reset_after_ms;
    o->drain_timeout_ms = s->drain_timeout_ms;
    o->drain_cancel_timeout_ms = s->drain_cancel_timeout_ms;
    o->connections = s->connections;
    o->purge = s->purge;
    o->no_drain = !s->drain;
}

/* Of what nothing can be delivered with none. */
static bool check_positive(const struct delivery_settings *s, struct err *err)
{
    const struct {
        const char *name;
        size_t value;
    } positive[] = {
        {"workers", s->workers},
        {"helpers", s->helpers},
        {"batch_min", s->batch_min},
        {"batch_bytes", s->batch_bytes},
        {"bytes", s->bytes_max},
        {"load_batch", s->load_batch_max},
        {"loads", s->loads_max},
        {"flush_interval", s->flush_ms},
        {"request_timeout", s->request_timeout_ms},
        {"failures", s->failures},
        {"connections", s->connections},
    };

    for (size_t i = 0; i < ARRAY_LEN(positive); i++)
        if (positive[i].value == 0)
            return err_set(err, ERR_REJECT,
                           "delivery.%s: 0 is not possible; fix: at least 1, or leave it to "
                           "its default",
                           positive[i].name);
    return true;
}

bool delivery_settings_check(const struct delivery_settings *s, struct err *err)
{
    if (!check_positive(s, err))
        return false;
    if (s->failures > FUSE_FAILURES_MAX)
        return err_set(err, ERR_REJECT,
                       "delivery.failures, %u, is more than %d, which are counted; fix: set it "
                       "to %d at most",
                       s->failures, FUSE_FAILURES_MAX, FUSE_FAILURES_MAX);
    if (s->batch_max > 0 && s->batch_max < s->batch_min)
        return err_set(err, ERR_REJECT,
                       "delivery.batch_max, %u, is less than delivery.batch_min, %u; fix: set "
                       "batch_max to auto or to %u at least, or batch_min to %u at most",
                       s->batch_max, s->batch_min, s->batch_min, s->batch_max);
    if (s->purge >= N_PURGE_STRATEGIES)
        return err_set(err, ERR_REJECT,
                       "delivery.purge: there is no such strategy; fix: purge_one, "
                       "purge_index, purge_all or off");
    return true;
}

enum purge_strategy delivery_settings_purge(const char *name)
{
    static const char *const names[N_PURGE_STRATEGIES] = {
        [PURGE_ONE] = "purge_one",
        [PURGE_INDEX] = "purge_index",
        [PURGE_ALL] = "purge_all",
        [PURGE_OFF] = "off",
    };
    size_t i = 0;

    while (i < N_PURGE_STRATEGIES && strcmp(names[i], name) != 0)
        i++;
    return (enum purge_strategy)i;
}
