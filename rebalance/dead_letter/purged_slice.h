/*
 * struct purged_slice: purged documents handed over together to be read and written again, and
 * the state of each.
 *
 * Each document has its own ticket, so one that cannot be written does not block the others.
 *
 * @thread of whoever made it; the tickets end on any
 */
#ifndef REBALANCE_DEAD_LETTER_PURGED_SLICE_H
#define REBALANCE_DEAD_LETTER_PURGED_SLICE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct purged_slice;
struct ticket;

enum purged_state {
    PURGED_OUT = 0, /* in flight */
    PURGED_WRITTEN, /* or stored as a dead letter */
    PURGED_UNDONE,  /* purged again, or abandoned */
};

/* For at most n documents. */
struct purged_slice *purged_slice_new(size_t n) RETURNS_NONNULL MUST_CHECK;
/*
 * The ticket of document i, with one reference.  Call once per document, when handing it over.
 */
struct ticket *purged_slice_ticket(struct purged_slice *s, size_t i) RETURNS_NONNULL;
enum purged_state purged_slice_state(const struct purged_slice *s, size_t i);
/* No document is in flight any more. */
bool purged_slice_is_over(const struct purged_slice *s);
/* Drop the owner's reference.  Tickets may still be out.  NULL is fine. */
void purged_slice_leave(struct purged_slice *s);

#endif
