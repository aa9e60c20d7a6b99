/*
 * struct dirty_set: the documents of one index that were submitted since somebody began to
 * watch.
 *
 * All others are unchanged, so they can be compared with the rows at any moment since.  Gathers
 * ids and keys until it is closed; from then on only counts.
 *
 * @thread dirty_set_add(): any.  link, unlink and note: the caller guards the list.  Others:
 * the owner's.
 */
#ifndef SYNC_DELIVERY_DOCUMENT_DIRTY_SET_H
#define SYNC_DELIVERY_DOCUMENT_DIRTY_SET_H

#include "src/base/base.h"
#include "sync/document/key_set.h"

#include <stddef.h>
#include <stdint.h>

struct doc_write;
struct dirty_set;

/* Keeps the ids and keys of at most max documents. */
struct dirty_set *dirty_set_new(const char *index, uint32_t max) RETURNS_NONNULL MUST_CHECK;
void dirty_set_free(struct dirty_set *t); /* nobody may note any more; NULL is allowed */

/* A list of all watchers, which the caller guards. */
void dirty_set_link(struct dirty_set **first, struct dirty_set *t);
void dirty_set_unlink(struct dirty_set **first, struct dirty_set *t);
/* Note the writes to its index; ignores others.  @thread any */
void dirty_set_add(struct dirty_set *t, const struct doc_write *writes, size_t n);
/* Call dirty_set_add() for each watcher in the list. */
void dirty_set_note(struct dirty_set *first, const struct doc_write *writes, size_t n);

void dirty_set_close(struct dirty_set *t);
/* Call after dirty_set_close().  Borrowed.  All `_id`s, and the row keys of one table. */
const struct key_set *dirty_set_ids(const struct dirty_set *t) RETURNS_NONNULL;
const struct key_set *dirty_set_keys(const struct dirty_set *t,
                                     const char *table) RETURNS_NONNULL;
/* Count the writes that were not recorded: beyond max, without a key, or after the close. */
uint64_t dirty_set_more(struct dirty_set *t);

#endif
