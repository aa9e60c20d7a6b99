/*
 * Which topics this node owns, as far as it knows.  Others may take a topic at any time; the
 * store then refuses what this node writes for it (src/store/owned.h), and the coordinator's
 * thread ends its pipeline (rebalance/topic/lost.h).
 */
#ifndef REBALANCE_STATE_OWNED_H
#define REBALANCE_STATE_OWNED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct coordinator;

/*
 * Let the store wake the coordinator's thread as soon as it refuses what was ours, and let the
 * engine's indexes be changed only by their topic's owner.  coordinator_unwatch_loss() undoes
 * it.
 */
void coordinator_watch_loss(struct coordinator *co);
void coordinator_unwatch_loss(struct coordinator *co);
/* Do other nodes use the store as well?  If not, this node owns every topic. */
bool coordinator_is_shared(const struct coordinator *co) MUST_CHECK;
/* Shall this node own the topic, for all that the cluster said?  Never blocks. */
bool coordinator_shall_own(struct coordinator *co, struct str topic) MUST_CHECK;
/*
 * Does this node own the topic, as far as it knows?  Nobody works on what others own.
 * @thread any, never blocks
 */
bool coordinator_owns(struct coordinator *co, struct str topic) MUST_CHECK;
/* The term under which this node owns it; false if it does not, or not yet. Never blocks. */
bool coordinator_find_term(struct coordinator *co, struct str topic, uint64_t *term) MUST_CHECK;
/* The same for the topic of an index's version; one that is not stored is nobody's. */
bool coordinator_owns_version(struct coordinator *co, struct str index,
                              uint64_t number) MUST_CHECK;
/* ERR_STOP if another node owns the topic.  Blocks on the store. */
bool coordinator_ask_owner(struct coordinator *co, struct str topic,
                           struct err *err) MUST_CHECK;

#endif
