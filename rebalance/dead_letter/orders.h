/*
 * The calls about dead letters: list, replay, discard.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks)
 */
#ifndef REBALANCE_DEAD_LETTER_ORDERS_H
#define REBALANCE_DEAD_LETTER_ORDERS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/store.h"

#include <stdbool.h>

struct buf;
struct coordinator;

bool coordinator_dead_letters(struct coordinator *co, const struct dead_letter_filter *f,
                              struct buf *json, struct err *err) MUST_CHECK;
/* Of this and the next, dry_run: only say how many it would be. */
bool coordinator_dead_letter_replay(struct coordinator *co, const struct dead_letter_filter *f,
                                    bool dry_run, struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_dead_letter_discard(struct coordinator *co, const struct dead_letter_filter *f,
                                     bool dry_run, struct buf *json,
                                     struct err *err) MUST_CHECK;

#endif
