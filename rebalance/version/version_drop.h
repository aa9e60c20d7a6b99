/* The deletion of versions: at once in the store, then of their indexes in the engine. */
#ifndef REBALANCE_VERSION_VERSION_DROP_H
#define REBALANCE_VERSION_VERSION_DROP_H

#include "rebalance/state/parts.h"

/* The deletion of indexes whose versions are dropped. */
struct drops;

struct drops *drops_new(void) RETURNS_NONNULL MUST_CHECK;
void drops_free(struct drops *d); /* NULL is fine */

/*
 * Drop versions with their jobs, all of them or none.  Nothing writes to them any more, and
 * their indexes are queued for deletion.
 */
bool coordinator_drop_versions(struct coordinator *co, const struct stored_version *const *list,
                               size_t n, struct err *err) NEEDS(co->admin_lock) MUST_CHECK;
/* Drop one version, and its index soon.  Searches keep the index that they use. */
bool coordinator_drop_version(struct coordinator *co, const struct stored_version *v,
                              struct err *err) NEEDS(co->admin_lock) MUST_CHECK;
/* Soon delete the indexes of versions that are gone from the store.  @thread any */
void coordinator_end_drops_soon(struct coordinator *co);
/*
 * Delete them when that is due or an earlier attempt failed.  Blocks on the engine; must not
 * hold admin_lock.  @thread aliases
 */
void coordinator_end_drops(struct coordinator *co);
/* Delete those of one alias now.  *n: how many were deleted.  @thread any */
bool coordinator_end_drops_of(struct coordinator *co, struct str alias, uint64_t *n,
                              struct err *err) MUST_CHECK;
/* Delete the dead letters of those versions of its index that nothing is written to. */
void coordinator_forget_other_letters(struct coordinator *co, const struct stored_version *v);
/* At start: clean up after a build that was killed just after its version was promoted. */
void coordinator_end_promoted(struct coordinator *co, struct str topic);

#endif
