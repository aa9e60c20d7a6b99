/*
 * struct write_gather: document writes that gather before they are handed to delivery together.
 *
 * Texts are copied.  What is not taken any more is abandoned.
 *
 * @thread one at a time
 */
#ifndef SYNC_WRITE_GATHER_H
#define SYNC_WRITE_GATHER_H

#include "src/base/base.h"

struct delivery;
struct doc_write;
struct stop;
struct write_gather;

/* Both borrowed; given_up set: nothing is handed over any more. */
struct write_gather *write_gather_new(struct delivery *delivery,
                                      const struct stop *given_up) RETURNS_NONNULL MUST_CHECK;
/* After a flush. */
void write_gather_free(struct write_gather *g);

/* Takes the references to target and ticket over.  Hands over first where many have gathered,
 * which may wait for delivery. */
void write_gather_add(struct write_gather *g, const struct doc_write *write);

/* Hand over what has gathered.  May wait for delivery. */
void write_gather_flush(struct write_gather *g);

#endif
