/*
 * struct touched: the documents of one index that something was handed over for since somebody
 * began to look.
 *
 * All others are as they were, so that they can be compared with rows of any moment since.
 * First it gathers ids and keys; once it is closed these stay, and what comes is only counted.
 *
 * @thread link to note: as the list is guarded; the others: one, whose it is
 */
#ifndef SYNC_DELIVERY_TOUCHED_H
#define SYNC_DELIVERY_TOUCHED_H

#include "src/base/base.h"
#include "sync/document/key_set.h"

#include <stddef.h>
#include <stdint.h>

struct doc_write;
struct touched;

/* Of at most max documents of the index the ids and keys are kept. */
struct touched *touched_new(const char *index, uint32_t max) RETURNS_NONNULL MUST_CHECK;
void touched_free(struct touched *t); /* nobody notes any more; NULL is fine */

/* A list of all that look, which the caller guards. */
void touched_link(struct touched **first, struct touched *t);
void touched_unlink(struct touched **first, struct touched *t);
/* By all of the list; each passes by what is of other indexes. */
void touched_note(struct touched *first, const struct doc_write *writes, size_t n);

void touched_close(struct touched *t);
/* After the close; borrowed.  The `_id`s of all, and the keys of rows of one table. */
const struct key_set *touched_ids(const struct touched *t) RETURNS_NONNULL;
const struct key_set *touched_keys(const struct touched *t,
                                   const char *table) RETURNS_NONNULL;
/* Writes that are not among them: beyond max, or after the close. */
uint64_t touched_more(struct touched *t);

#endif
