/*
 * struct repair_slice: purged documents that were handed over together to be read and written
 * again, and what has become of each.
 *
 * Each has a ticket of its own, so one that cannot be written keeps no other waiting.
 *
 * @thread of whoever made it; the tickets end on any
 */
#ifndef REBALANCE_REPAIR_SLICE_H
#define REBALANCE_REPAIR_SLICE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct repair_slice;
struct ticket;

enum repair_state {
    REPAIR_OUT = 0, /* on its way */
    REPAIR_WRITTEN, /* what became a dead letter is kept as that */
    REPAIR_UNDONE,  /* purged again, or given up */
};

/* Of n documents at most. */
struct repair_slice *repair_slice_new(size_t n) RETURNS_NONNULL MUST_CHECK;
/* The i-th is handed over: its ticket, with one reference.  Once each. */
struct ticket *repair_slice_ticket(struct repair_slice *s, size_t i) RETURNS_NONNULL;
enum repair_state repair_slice_state(const struct repair_slice *s, size_t i);
/* None is on its way any more. */
bool repair_slice_is_over(const struct repair_slice *s);
/* Its tickets may still be out.  NULL is fine. */
void repair_slice_leave(struct repair_slice *s);

#endif
