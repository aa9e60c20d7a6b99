#ifndef REBALANCE_VERSION_SETTINGS_H
#define REBALANCE_VERSION_SETTINGS_H

#include "rebalance/state/parts.h"

/*
 * If settings_due is set, apply changed settings of the definitions to the indexes that
 * searches use, as far as an open index accepts them.  A failure becomes a warning in problems
 * (NULL: in the log).  It stays due if it may work later.
 */
void coordinator_sync_settings(struct coordinator *co, struct problems *problems);

#endif
