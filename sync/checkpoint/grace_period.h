/*
 * struct grace_period: find out when all work begun for an index before some moment is over.
 *
 * Work enters when it begins and leaves when it ends.  To wait, turn the turnstile: new work
 * then enters on the other side, and once the old side is empty, all earlier work is over.
 * Work that enters during the turn may count on either side, so it must be correct on both.
 *
 * Reference-counted: whoever is inside, or may enter, has a reference.
 *
 * @thread any (atomic); turn and is_clear: one
 */
#ifndef SYNC_CHECKPOINT_GRACE_PERIOD_H
#define SYNC_CHECKPOINT_GRACE_PERIOD_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grace_period;

struct grace_period *grace_period_new(void) RETURNS_NONNULL MUST_CHECK;
struct grace_period *grace_period_ref(struct grace_period *t) RETURNS_NONNULL;
void grace_period_unref(struct grace_period *t); /* NULL is allowed */

/* Returns the side, to leave by. */
unsigned grace_period_enter(struct grace_period *t);
void grace_period_leave(struct grace_period *t, unsigned side);

/*
 * From now on, reads of entering work must include position `floor`.  Returns false and does
 * nothing if work of the previous turn is still on the other side.
 */
bool grace_period_turn(struct grace_period *t, uint64_t floor) MUST_CHECK;
/* Tell whether all work from before the last turn has left. */
bool grace_period_is_clear(const struct grace_period *t);

/* The position that reads must include; ask after entering. */
uint64_t grace_period_floor(const struct grace_period *t);

#endif
