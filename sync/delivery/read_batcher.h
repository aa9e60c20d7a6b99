/*
 * Re-reads of documents: batches to options.load and back.
 *
 * The first read goes at once.  While as many are out as allowed, requests gather for the next
 * one.  The limit counts per topic, and reads that also go to servers of other topics have a
 * limit of their own: so only those that need a server wait while it does not answer.
 *
 * Nothing is read while too many bytes are held, unless nothing else is going on: results
 * always find room, so do not read without need.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_READ_BATCHER_H
#define SYNC_DELIVERY_READ_BATCHER_H

#include "src/base/base.h"
#include "sync/delivery/sender.h"

/* Hand out what may be read now. */
void read_batcher_turn(struct sender *s);

/* Return the milliseconds, at most max_ms, until read_batcher_turn() has something new to do.
 */
int64_t read_batcher_wait_ms(const struct sender *s, int64_t max_ms);

/* Take over a batch that came back. */
void read_batcher_take(struct sender *s, struct load_batch *batch);

/* Free a batch that came back after the thread had ended. */
void read_batcher_drop(struct load_batch *batch);

/* Count the documents being read. */
size_t read_batcher_documents(const struct sender *s);

#endif
