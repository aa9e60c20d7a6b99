/* Retired and history versions: they are deleted after a while, and listed until then. */
#ifndef REBALANCE_VERSION_RETIRED_H
#define REBALANCE_VERSION_RETIRED_H

#include "rebalance/state/parts.h"

/*
 * Drop indexes that are retired or history after index.retire_after, unless an alias leads to
 * them.  Acts at intervals; blocks on the engine and takes admin_lock.  @thread aliases
 */
void coordinator_drop_retired(struct coordinator *co);
/* The retired indexes that are due and stay, each with its reason.  Locked inside. */
struct kept_indexes *kept_indexes_new(void) RETURNS_NONNULL MUST_CHECK;
void kept_indexes_free(struct kept_indexes *all); /* NULL is fine */
/* List the indexes of an alias; name empty: of all. */
bool coordinator_list_indexes(struct coordinator *co, struct str name, struct json_writer *w,
                              size_t *n, struct err *err) MUST_CHECK;
/*
 * Append the aliases that lead to the index, separated by ", ".  Leaves out its write alias,
 * and with own also the alias that searches of its table use.  Blocks on the engine.
 */
bool coordinator_aliases_of(struct coordinator *co, const struct stored_version *v, bool own,
                            struct buf *names, struct err *err) MUST_CHECK;

#endif
