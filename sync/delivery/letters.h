/*
 * struct letters: dead letters on their way to the store, and those to be removed from it.
 *
 * A refused document ends only when its dead letter is durable.  Until then it is kept here and
 * storing is retried.  A letter that replaces another goes before those that need room.  If a
 * document with a known dead letter is written after all, by a write that is not older than the
 * refused one, its dead letter is removed.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_LETTERS_H
#define SYNC_DELIVERY_LETTERS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/document/document.h"
#include "sync/delivery/index/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct letters;

/* Borrows opt. */
struct letters *letters_new(const struct delivery_options *opt,
                            uint64_t seed) RETURNS_NONNULL MUST_CHECK;
void letters_free(struct letters *l); /* NULL is allowed */

/* Add doc, which is REFUSED, with the answer's status (0: there was none) and reason. */
void letters_refuse(struct letters *l, struct document *doc, int status, struct str reason);

/* Try to store what waits.  Returns a document whose dead letter is durable, or NULL. */
struct document *letters_next(struct letters *l, int64_t now_ms);

/* Return the first document that waits to be stored, or NULL. */
const struct document *letters_first(struct letters *l);
/* Return the error if the store last refused a letter for want of room, else NULL. */
const struct err *letters_are_full(const struct letters *l);

/* Count the letters waiting for room, of documents that count; counts is NULL: of all. */
size_t letters_kept_back(const struct letters *l,
                         bool (*counts)(const void *ctx, const struct document *doc),
                         const void *ctx);

/* The store has a dead letter of this document, of a write at version. */
void letters_note(struct letters *l, struct str index, struct str routing, struct str id,
                  uint64_t version);
/* That dead letter is gone, unless it is of a newer write. */
void letters_discard(struct letters *l, struct str index, struct str routing, struct str id,
                     uint64_t version);
/* The index is gone for good: forget its dead letters. */
void letters_drop(struct letters *l, struct str index);
/* Take a document of the index whose letter waits and shall not be stored, or NULL. */
struct document *letters_take(struct letters *l, struct str index);
/* Tell whether the document of w has a dead letter. */
bool letters_know(struct letters *l, const struct write *w);
/* The document of w was written: remove its dead letter, if it has one. */
void letters_written(struct letters *l, const struct write *w, int64_t now_ms);
/* Retry removals that failed. */
void letters_turn(struct letters *l, int64_t now_ms);

int64_t letters_wait_ms(const struct letters *l, int64_t now_ms, int64_t max_ms);

#endif
