/*
 * Converts between the settings of delivery (src/config/settings.h) and its options.
 *
 * Pure.
 */
#ifndef SYNC_DELIVERY_INDEX_SETTINGS_H
#define SYNC_DELIVERY_INDEX_SETTINGS_H

#include "src/config/settings.h"
#include "sync/delivery/index/options.h"

/* Take the settings from complete options, or put them there. */
struct delivery_settings delivery_settings_of(const struct delivery_options *o);
void delivery_settings_put(const struct delivery_settings *s, struct delivery_options *o);

#endif
