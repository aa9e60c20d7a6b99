/*
 * What happens to index versions when definitions change.  If no definition names an index any
 * more, its versions are retired in the transaction that stores the definitions.
 */
#ifndef REBALANCE_VERSION_RETIRE_H
#define REBALANCE_VERSION_RETIRE_H

#include "rebalance/state/parts.h"

/* What is stored together with new definitions. */
struct retirement {
    struct arena *arena; /* NULL: nothing */
    struct definition_effects effects;
    /* Set by the caller: the indexes of this table are dropped, also retired ones; borrowed. */
    struct str all_of;
    struct str by; /* set by the caller: who changes the definitions; borrowed */
    bool dry_run;  /* set by the caller: nothing will be stored */
};
/*
 * End the builds of indexes that `then` does not name, and collect in r the versions to
 * retire or drop.  r is zeroed but for what the caller sets.  If r is then not stored, the
 * builds resume automatically.
 */
bool coordinator_retire(struct coordinator *co, const struct definitions *now,
                        const struct definitions *then, struct retirement *r, struct err *err)
    NEEDS(co->admin_lock) MUST_CHECK;
/*
 * Call when r is stored and topics no longer write to these versions: drops their changes from
 * delivery.
 */
void coordinator_retired(struct coordinator *co, const struct retirement *r);
void coordinator_retirement_free(struct retirement *r); /* a zeroed one is fine */
/* At start: retire what an older program left unretired. */
bool coordinator_retire_unnamed(struct coordinator *co, struct err *err)
    NEEDS(co->admin_lock) MUST_CHECK;
void coordinator_warn_of_retirement(struct coordinator *co, const struct definitions *then,
                                    struct problems *problems);
/* ERR_REJECT if a version is being built whose index `then` does not name. */
bool coordinator_none_is_built(struct coordinator *co, const struct definitions *then,
                               struct err *err) MUST_CHECK;
void coordinator_put_retired(struct json_writer *w, const struct retirement *r); /* "retired" */
/* Whether the version is the table's: of its index, or retired and built of it. */
bool coordinator_is_version_of(const struct stored_version *v, struct str index,
                               struct str table) MUST_CHECK;

#endif
