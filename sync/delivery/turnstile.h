/*
 * struct turnstile: tells when everything that was begun for an index before a moment is over.
 *
 * Work enters when it begins and leaves when it is over.  Who wants to wait turns it: from then
 * on work enters on the other side, and when the side from before is empty, all that had begun
 * before is over.  What enters while it is turned may count for either side, so it must be
 * right on both.
 *
 * @thread any (atomic); turn and is_clear: one
 */
#ifndef SYNC_DELIVERY_TURNSTILE_H
#define SYNC_DELIVERY_TURNSTILE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turnstile {
    unsigned side;    /* atomic; 0 or 1 */
    size_t inside[2]; /* atomic */
    uint64_t floor;   /* atomic */
};

/* The side, to leave by. */
unsigned turnstile_enter(struct turnstile *t);
void turnstile_leave(struct turnstile *t, unsigned side);

/*
 * What enters from now on and reads must include position `floor`.  False: somebody is still on
 * the other side from the last time, and nothing happened.
 */
bool turnstile_turn(struct turnstile *t, uint64_t floor) MUST_CHECK;
/* Whatever had entered before the last turn has left. */
bool turnstile_is_clear(const struct turnstile *t);

/* The position that reads must include; ask after entering. */
uint64_t turnstile_floor(const struct turnstile *t);

#endif
