/*
 * struct delivery_settings: what can be changed of a delivery while it runs.
 *
 * Values, without texts and where they come from (that is rebalance/delivery_values.h).  They
 * are part of the options that a delivery is made with.
 *
 * Pure.
 */
#ifndef SYNC_DELIVERY_DELIVERY_SETTINGS_H
#define SYNC_DELIVERY_DELIVERY_SETTINGS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/delivery/delivery_options.h"
#include "sync/delivery/purge.h"

#include <stdbool.h>
#include <stddef.h>

struct delivery_settings {
    unsigned workers, helpers;
    unsigned batch_min, batch_max; /* batch_max 0: by bytes */
    size_t batch_bytes, bytes_max, load_batch_max;
    unsigned loads_max;
    size_t high_water_mark; /* changes of a worker; 0: each caller waits */
    unsigned flush_ms, request_timeout_ms, read_window_ms;
    unsigned failures, failure_window_ms, reset_after_ms;
    unsigned drain_timeout_ms, drain_cancel_timeout_ms;
    unsigned connections;
    enum purge_strategy purge;
    bool drain;
};

/* Those of complete options, and back. */
struct delivery_settings delivery_settings_of(const struct delivery_options *o);
void delivery_settings_put(const struct delivery_settings *s, struct delivery_options *o);

/* Whether they make sense, each and together; ERR_REJECT names the setting and the fix. */
bool delivery_settings_check(const struct delivery_settings *s, struct err *err) MUST_CHECK;

/* By its name in the configuration; N_PURGE_STRATEGIES: there is none of that name. */
enum purge_strategy delivery_settings_purge(const char *name);

#endif
