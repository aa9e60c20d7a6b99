/*
 * struct write_gather: collect document writes and pass them to delivery in batches.
 *
 * Copies texts.  Abandons writes once given_up is set.
 *
 * @thread one at a time
 */
#ifndef SYNC_CHANGE_WRITE_GATHER_H
#define SYNC_CHANGE_WRITE_GATHER_H

#include "src/base/base.h"

struct delivery;
struct doc_write;
struct stop;
struct write_gather;

/* Borrows both.  Once given_up is set, passes nothing on. */
struct write_gather *write_gather_new(struct delivery *delivery,
                                      const struct stop *given_up) RETURNS_NONNULL MUST_CHECK;
/* Call after a flush. */
void write_gather_free(struct write_gather *g);

/*
 * Takes over the references to target and ticket.  Flushes first if many writes have collected,
 * which may wait for delivery.
 */
void write_gather_add(struct write_gather *g, const struct doc_write *write);

/* Pass on the collected writes.  May wait for delivery. */
void write_gather_flush(struct write_gather *g);

#endif
