/* Taking stored definitions into effect, after `apply`, a deletion or a load that failed. */
#ifndef REBALANCE_ADMIN_APPLY_H
#define REBALANCE_ADMIN_APPLY_H

#include "rebalance/state/parts.h"

/* If a load is due, load what is stored and put it into effect now. */
bool coordinator_take_stored(struct coordinator *co, struct err *err)
    NEEDS(co->admin_lock) MUST_CHECK;

#endif
