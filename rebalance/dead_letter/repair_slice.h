/*
 * struct repair_slice: purged documents handed over together to be read and written again, and
 * the state of each.
 *
 * Each document has its own ticket, so one that cannot be written does not block the others.
 *
 * @thread of whoever made it; the tickets end on any
 */
#ifndef REBALANCE_DEAD_LETTER_REPAIR_SLICE_H
#define REBALANCE_DEAD_LETTER_REPAIR_SLICE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct repair_slice;
struct ticket;

enum repair_state {
    REPAIR_OUT = 0, /* in flight */
    REPAIR_WRITTEN, /* or stored as a dead letter */
    REPAIR_UNDONE,  /* purged again, or abandoned */
};

/* For at most n documents. */
struct repair_slice *repair_slice_new(size_t n) RETURNS_NONNULL MUST_CHECK;
/*
 * The ticket of document i, with one reference.  Call once per document, when handing it over.
 */
struct ticket *repair_slice_ticket(struct repair_slice *s, size_t i) RETURNS_NONNULL;
enum repair_state repair_slice_state(const struct repair_slice *s, size_t i);
/* No document is in flight any more. */
bool repair_slice_is_over(const struct repair_slice *s);
/* Drop the owner's reference.  Tickets may still be out.  NULL is fine. */
void repair_slice_leave(struct repair_slice *s);

#endif
