/*
 * Replays dead letters: on request, and after a change of the mapping.
 */
#ifndef REBALANCE_DEAD_LETTER_REPLAY_H
#define REBALANCE_DEAD_LETTER_REPLAY_H

#include "rebalance/state/parts.h"

/* When to look for requested replays. */
struct replays;

struct replays *replays_new(void) RETURNS_NONNULL MUST_CHECK;
void replays_free(struct replays *r); /* NULL is fine */

/*
 * The index may now accept documents that it refused before: request a replay of its dead
 * letters.  The request is stored, so it survives a restart.
 */
bool coordinator_want_replay(struct coordinator *co, struct str index,
                             struct err *err) MUST_CHECK;
/* Topics have come to this node: look for what was requested of theirs. */
void coordinator_look_for_replays(struct coordinator *co);
/*
 * Replay the dead letters that were requested.  Blocks; must not hold admin_lock.  @thread
 * replay
 */
void coordinator_replay_wanted(struct coordinator *co);
/* In how many ms coordinator_replay_wanted() has something to look at; 0: now. */
int64_t coordinator_replay_due_in_ms(const struct coordinator *co);

#endif
