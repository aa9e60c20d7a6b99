/*
 * struct document_table: every document that is queued, read or in flight, by (index, routing,
 * id).
 *
 * What is in it is locked: a document has one entry and so one operation at a time, whatever
 * worker, batch or table it comes through.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_DOCUMENT_TABLE_H
#define SYNC_DELIVERY_DOCUMENT_TABLE_H

#include "src/base/base.h"
#include "sync/delivery/document.h"

#include <stdbool.h>
#include <stddef.h>

struct document_table;
struct outlet;

struct document_table *document_table_new(void) RETURNS_NONNULL MUST_CHECK;
/* Abandons what is left.  NULL is fine. */
void document_table_free(struct document_table *t, struct write_ends *ends);

/*
 * Write w of the index behind o has arrived.  Returns its document, whose state may have
 * changed; *is_new: it had no entry.
 */
struct document *document_table_arrive(struct document_table *t, struct outlet *o,
                                       struct write *w, struct write_ends *ends,
                                       bool *to_place) RETURNS_NONNULL;

/* hash: of the outlet's index, routing and id.  NULL: it has no entry. */
struct document *document_table_find(const struct document_table *t, const struct outlet *o,
                                     uint64_t hash, struct str routing, struct str id);

/* Forget doc, whose `now` has ended and who is in no queue. */
void document_table_remove(struct document_table *t, struct document *doc);

/* Ask the memory for what arriving or removing under this hash will look at. */
void document_table_fetch(const struct document_table *t, uint64_t hash);

size_t document_table_count(const struct document_table *t);

/*
 *     for (struct document_cursor at = {0}; (doc = document_table_next(t, &at)) != NULL;)
 *
 * Each document once; the one just seen may be removed, none may be added.
 */
struct document_cursor {
    size_t bucket; /* the next to look at */
    struct document *next;
};
struct document *document_table_next(struct document_table *t, struct document_cursor *at);

#endif
