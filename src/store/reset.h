/*
 * Restart a topic at its server's present position.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_RESET_H
#define SRC_STORE_RESET_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/retired.h"
#include "src/store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct store;

struct topic_reset {
    struct str topic;
    const struct stored_stop *stops; /* the topic's tables stop */
    size_t n_stops;
    const struct stored_rebuild *rebuilds; /* for tables to be rebuilt automatically */
    size_t n_rebuilds;
    const struct version_name *builds; /* to give up, as store_drop_versions() does */
    size_t n_builds;
    const struct version_name *kept; /* no longer current, as after store_end_kept() */
    size_t n_kept;
    int64_t at_ms;             /* steady time */
    struct stored_value start; /* where the topic starts */
};
/*
 * Stores all of it and deletes the topic's fan-out jobs, gone documents and checkpoint, in one
 * transaction.
 */
bool store_reset_topic(struct store *s, const struct topic_reset *r,
                       struct err *err) MUST_CHECK;

#endif
