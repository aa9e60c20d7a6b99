/*
 * struct live_settings: the settings in force, of the configuration and of those who changed
 * them at run time.
 */
#ifndef REBALANCE_ADMIN_DELIVERY_SET_H
#define REBALANCE_ADMIN_DELIVERY_SET_H

#include "rebalance/state/parts.h"
#include "src/base/lock.h"

/* The settings in force: those of the configuration, and those set at run time above them. */
struct live_settings {
    struct lock changes; /* LOCK_settings_lock */
    struct lock lock;

    /* Replaced as a whole, under both locks.  Either suffices to read it. */
    struct configuration *in_force;
};

/* configured: copied; NULL: the defaults. */
struct live_settings *
live_settings_new(const struct configuration *configured) RETURNS_NONNULL MUST_CHECK;
void live_settings_free(struct live_settings *s); /* NULL is fine */

/* Load the settings that an operator set at run time before the last stop. */
bool coordinator_load_settings(struct coordinator *co, struct err *err) MUST_CHECK;
/* Put in force what another node has set and stored.  Blocks on the store. */
bool coordinator_follow_settings(struct coordinator *co, struct err *err) MUST_CHECK;
/* Put a list of all settings, in the notation of the configuration file. */
void coordinator_put_delivery_settings(struct coordinator *co, struct json_writer *w);
struct delivery_settings coordinator_configured_delivery(struct coordinator *co);

#endif
