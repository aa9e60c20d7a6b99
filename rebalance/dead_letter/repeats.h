/* @thread replay, or after that thread has ended */
#ifndef REBALANCE_DEAD_LETTER_REPEATS_H
#define REBALANCE_DEAD_LETTER_REPEATS_H

#include "rebalance/state/parts.h"

/*
 * Repeat the deletes that earlier daemons may have left unfinished, once they are due.  May
 * block.
 */
void coordinator_repeat_deletes(struct coordinator *co);
/* In how many ms that has something to do; INT64_MAX: when a topic starts. */
int64_t coordinator_repeats_due_in_ms(const struct coordinator *co);
struct repeats *repeats_new(void) RETURNS_NONNULL MUST_CHECK;
void repeats_free(struct repeats *all); /* NULL is fine */

#endif
