/*
 * struct letters: dead letters on their way to the store, and those that can go again.
 *
 * A refused document is done only when its dead letter is durable; until then it is kept here
 * and storing it is tried again.  One that takes the place of another goes before those that need
 * room.  A document that is known to have a dead letter and is written
 * after all has it taken back, by a write that is not older than what was refused.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_LETTERS_H
#define SYNC_DELIVERY_LETTERS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/delivery_options.h"
#include "sync/delivery/document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct letters;

/* opt is borrowed. */
struct letters *letters_new(const struct delivery_options *opt,
                            uint64_t seed) RETURNS_NONNULL MUST_CHECK;
void letters_free(struct letters *l); /* NULL is fine */

/* doc is REFUSED, with the answer's status (0: there was none) and reason. */
void letters_refuse(struct letters *l, struct document *doc, int status, struct str reason);

/* Try to store what waits: a document whose dead letter is durable now, or NULL. */
struct document *letters_next(struct letters *l, int64_t now_ms);

/* The first of those that wait to be stored, or NULL. */
const struct document *letters_first(struct letters *l);
/* Why no more are taken, as they were refused for want of room last; NULL: they are taken. */
const struct err *letters_are_full(const struct letters *l);

/* How many wait for room, of documents whose hash modulo workers is worker. */
size_t letters_kept_back(const struct letters *l, unsigned workers, unsigned worker);

/* There is a dead letter of this document, of a write at version. */
void letters_note(struct letters *l, struct str index, struct str routing, struct str id,
                  uint64_t version);
/* That one is no more, unless it was of something newer. */
void letters_discard(struct letters *l, struct str index, struct str routing, struct str id,
                     uint64_t version);
/* The index is gone for good: nothing of it is written after all. */
void letters_drop(struct letters *l, struct str index);
/* A document of it whose letter waits, and is not to be stored any more; NULL: there is none. */
struct document *letters_take(struct letters *l, struct str index);
/* The document of w has a dead letter. */
bool letters_know(struct letters *l, const struct write *w);
/* The document of w was written: take its dead letter back, if there is one. */
void letters_written(struct letters *l, const struct write *w, int64_t now_ms);
/* Try again to take back what could not be. */
void letters_turn(struct letters *l, int64_t now_ms);

int64_t letters_wait_ms(const struct letters *l, int64_t now_ms, int64_t max_ms);

#endif
