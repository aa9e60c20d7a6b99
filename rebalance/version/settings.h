/* Index settings that a definition changed: an open index takes some of them in place. */
#ifndef REBALANCE_VERSION_SETTINGS_H
#define REBALANCE_VERSION_SETTINGS_H

#include "rebalance/state/parts.h"

/* Whether indexes lack settings, and why the last try failed. */
struct settings_sync;

struct settings_sync *settings_sync_new(void) RETURNS_NONNULL MUST_CHECK;
void settings_sync_free(struct settings_sync *s); /* NULL is fine */

/* Indexes may lack settings of their definitions. */
void coordinator_settings_due(struct coordinator *co) NEEDS(co->admin_lock);
/*
 * If they are due, apply changed settings of the definitions to the indexes that searches use,
 * as far as an open index accepts them.  A failure becomes a warning in problems (NULL: in the
 * log).  They stay due if a later try may succeed.
 */
void coordinator_sync_settings(struct coordinator *co, struct problems *problems)
    NEEDS(co->admin_lock);

#endif
