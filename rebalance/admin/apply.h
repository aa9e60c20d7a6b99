/* Taking stored definitions into effect, after `apply`, a deletion or a load that failed. */
#ifndef REBALANCE_ADMIN_APPLY_H
#define REBALANCE_ADMIN_APPLY_H

#include "rebalance/state/parts.h"

/* If a load is due, load what is stored and put it into effect now. */
bool coordinator_take_stored(struct coordinator *co, struct err *err)
    NEEDS(co->admin_lock) MUST_CHECK;

/*
 * Remove one definition and put that into effect.  r->all_of may name the table: then its
 * indexes are dropped with it, and their builds end; else none may be being built.  r->by says
 * who removes it.  r is zeroed otherwise; free it, on failure too.
 */
struct retirement;
bool coordinator_remove(struct coordinator *co, struct str noun, struct str name,
                        struct retirement *r, struct err *err) NEEDS(co->admin_lock) MUST_CHECK;

#endif
