/*
 * Reads of documents that must be read again: batches out to options.load and back.
 *
 * The first one goes at once; what comes while as many are out as may be gathers for the next.
 * So many may be for each topic, and again so many that go to servers of others as well: nobody
 * waits behind a server that does not answer but who needs it.
 * Nothing is read while more bytes are held than may be, unless nothing else goes on: what was
 * read always finds room, so it must not be asked for without need.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_LOADS_H
#define SYNC_DELIVERY_LOADS_H

#include "src/base/base.h"
#include "sync/delivery/sender.h"

/* Hand out what may be read now. */
void loads_turn(struct sender *s);

/* Until loads_turn() has something to do that it has not now. */
int64_t loads_wait_ms(const struct sender *s, int64_t max_ms);

/* A batch came back.  Takes it over. */
void loads_take(struct sender *s, struct load_batch *batch);

/* A batch that came back when there is no sender any more. */
void loads_drop(struct load_batch *batch);

/* Documents that are being read. */
size_t loads_documents(const struct sender *s);

#endif
