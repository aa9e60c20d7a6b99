#include "config.h"

#include "sync/delivery/index/settings.h"

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
        .high_water_mark = o->high_water_mark == DELIVERY_MARK_ZERO ? 0 : o->high_water_mark,
        .flush_ms = o->flush_interval_ms,
        .request_timeout_ms = o->request_timeout_ms,
        .read_window_ms = o->read_window_ms,
        .fan_out_share = o->fan_out_share,
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
    o->fan_out_share = s->fan_out_share;
    o->failures = s->failures;
    o->failure_window_ms = s->failure_window_ms;
    o->reset_after_ms = s->reset_after_ms;
    o->drain_timeout_ms = s->drain_timeout_ms;
    o->drain_cancel_timeout_ms = s->drain_cancel_timeout_ms;
    o->connections = s->connections;
    o->purge = s->purge;
    o->no_drain = !s->drain;
}
