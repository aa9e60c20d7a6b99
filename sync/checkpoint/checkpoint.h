/*
 * The safe position: up to where all transactions have been delivered.
 *
 * Transactions open in binlog order and finish in any order.  One is done when it is closed and
 * every action it expects was delivered.  Its position is safe when all earlier ones are done,
 * too.  The store gets safe positions only, so a restart can repeat work but not skip any.
 *
 * Reference-counted: what is under way may outlast the source.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_CHECKPOINT_CHECKPOINT_H
#define SYNC_CHECKPOINT_CHECKPOINT_H

#include "src/base/base.h"
#include "sync/checkpoint/outcome.h"

#include <stdbool.h>
#include <stdint.h>

struct checkpoint;

struct checkpoint *checkpoint_new(void) RETURNS_NONNULL MUST_CHECK;
struct checkpoint *checkpoint_ref(struct checkpoint *cp) RETURNS_NONNULL;
void checkpoint_unref(struct checkpoint *cp); /* NULL is allowed */

/* Of the source's changes; it lives as long. */
struct ticket_counters *checkpoint_counters(struct checkpoint *cp) RETURNS_NONNULL;

/* Open the next transaction.  Returns its sequence number (1, 2, 3, ...). */
uint64_t checkpoint_open(struct checkpoint *cp);

/*
 * Open the closed transaction seq again.  Returns false if it is safe already or was never
 * opened.
 */
bool checkpoint_reopen(struct checkpoint *cp, uint64_t seq) MUST_CHECK;

/* Make the open transaction seq wait for n more actions. */
void checkpoint_expect(struct checkpoint *cp, uint64_t seq, uint32_t n);

/*
 * Close the transaction: no more actions follow.  One that expects none is done at once, so
 * skipped tables still move the position.
 */
void checkpoint_close(struct checkpoint *cp, uint64_t seq);

/* Record that n actions of transaction seq were delivered or became dead letters. */
void checkpoint_done(struct checkpoint *cp, uint64_t seq, uint32_t n);

/* Returns the highest safe sequence number, 0 at the start. */
uint64_t checkpoint_safe(struct checkpoint *cp);

#endif
