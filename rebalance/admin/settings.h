/*
 * The calls that show and change settings while the daemon runs.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks)
 */
#ifndef REBALANCE_ADMIN_SETTINGS_H
#define REBALANCE_ADMIN_SETTINGS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct configuration;
struct coordinator;

/* One delivery setting ("workers"). value.ptr NULL: back to the configured value. */
struct setting_change {
    struct str name, value;
};
/*
 * Answers the settings in force and where each comes from. name empty: all; 404 if it is
 * unknown.
 */
bool coordinator_delivery_settings(struct coordinator *co, struct str name, struct buf *json,
                                   struct err *err) MUST_CHECK;
/*
 * Set all n or none, and store them. n 0: everything back to its configured value. Answers the
 * previous values.
 */
/* dry_run: check and answer only. */
bool coordinator_delivery_set(struct coordinator *co, const struct setting_change *c, size_t n,
                              bool dry_run, struct buf *json, struct err *err) MUST_CHECK;
/* Answers the whole configuration in force and where each value comes from. */
void coordinator_configuration(struct coordinator *co, struct buf *json);
/* Apply a configuration that was read again. Keeps what was set at run time. */
bool coordinator_configure(struct coordinator *co, const struct configuration *c,
                           struct err *err) MUST_CHECK;

#endif
