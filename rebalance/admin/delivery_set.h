#ifndef REBALANCE_ADMIN_DELIVERY_SET_H
#define REBALANCE_ADMIN_DELIVERY_SET_H

#include "rebalance/state/parts.h"

/*
 * Load the configuration, and the settings that an operator set at run time before the last
 * stop.
 */
bool coordinator_load_configuration(struct coordinator *co, struct err *err) MUST_CHECK;
/* Put a list of all settings, in the notation of the configuration file. */
void coordinator_put_delivery_settings(struct coordinator *co, struct json_writer *w);
struct delivery_settings coordinator_configured_delivery(struct coordinator *co);

#endif
