/*
 * What this node tells others, if they share the store: the state of the topics that it owns,
 * as its own status shows it (rebalance/view/told.h), who it is, and that it was stopped.
 *
 * A thread tells of a topic when something has changed, at most once a second, and else once a
 * minute, so that others know that what they have is not old.  Its looks wake nobody.
 */
#ifndef REBALANCE_TELL_TELL_H
#define REBALANCE_TELL_TELL_H

#include "rebalance/state/parts.h"

struct telling;

struct telling *telling_new(void) RETURNS_NONNULL MUST_CHECK;
void telling_free(struct telling *t); /* NULL is fine */

/* Do nothing if nobody else has the store. */
void coordinator_start_telling(struct coordinator *co);
void coordinator_join_telling(struct coordinator *co);

/*
 * Tell what is due.  Blocks on the store.  Returns how many topics it told of.
 * @thread the telling one's; a test's, before the start
 */
size_t coordinator_tell(struct coordinator *co);

#endif
