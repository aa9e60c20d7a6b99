/*
 * struct document_table: every document that is queued, being read or in flight, by (index,
 * routing, id).
 *
 * The entry is the document's lock: it has one entry, so at most one operation at a time,
 * regardless of worker, batch or table.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_DOCUMENT_DOCUMENT_TABLE_H
#define SYNC_DELIVERY_DOCUMENT_DOCUMENT_TABLE_H

#include "src/base/base.h"
#include "sync/delivery/document/document.h"

#include <stdbool.h>
#include <stddef.h>

struct document_table;
struct index_queue;

struct document_table *document_table_new(void) RETURNS_NONNULL MUST_CHECK;
/* Abandons the remaining documents.  NULL is allowed. */
void document_table_free(struct document_table *t, struct write_ends *ends);

/*
 * Add write w of the index of o.  Returns its document, whose state may have changed.  Sets
 * *to_place if the caller must queue it with index_queue_place(): it is new, or its state
 * changed.
 */
struct document *document_table_arrive(struct document_table *t, struct index_queue *o,
                                       struct write *w, struct write_ends *ends,
                                       bool *to_place) RETURNS_NONNULL;

/* hash: of the index queue's index, routing and id.  Returns NULL if it has no entry. */
struct document *document_table_find(const struct document_table *t,
                                     const struct index_queue *o, uint64_t hash,
                                     struct str routing, struct str id);

/* Remove doc, which must be in no queue and have no operation left. */
void document_table_remove(struct document_table *t, struct document *doc);

/* Prefetch the bucket of this hash, before an arrival or removal. */
void document_table_fetch(const struct document_table *t, uint64_t hash);

size_t document_table_count(const struct document_table *t);

/*
 *     for (struct document_cursor at = {0}; (doc = document_table_next(t, &at)) != NULL;)
 *
 * Visits each document once.  You may remove the current one, but add none.
 */
struct document_cursor {
    size_t bucket; /* the next one to visit */
    struct document *next;
};
struct document *document_table_next(struct document_table *t, struct document_cursor *at);

#endif
