/*
 * What log, doctor and answers say of dead letters; the calls are in
 * rebalance/dead_letter/orders.h.
 */
#ifndef REBALANCE_DEAD_LETTER_DEAD_H
#define REBALANCE_DEAD_LETTER_DEAD_H

#include "rebalance/state/parts.h"

struct doctor_list;
/* Log a warning if the oldest dead letter is older than dead_letters.old_after. */
void coordinator_warn_of_dead_letters(struct coordinator *co);
void coordinator_check_dead_letters(struct coordinator *co, struct doctor_list *l);
/* Writes the answer to a request that changed n dead letters. */
void coordinator_answer_letters(struct buf *json, const char *schema, uint64_t n, bool dry_run);

#endif
