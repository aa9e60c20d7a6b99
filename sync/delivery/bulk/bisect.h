/*
 * struct bisect: the search for the documents that made a whole request malformed.
 *
 * Delivery sends halves, one at a time and the halves of a half first, until each document to
 * blame stands alone.  So if all are refused, all halves together are no more than the first
 * request before the search is seen to be hopeless.  It keeps the documents to blame in flight
 * until the last half is answered: only then can it tell whether a few are bad or all.  If many
 * parts were refused and none was accepted, the search is hopeless: no single document is to
 * blame.  If the index is held during the search, what was refused before proves nothing.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_BULK_BISECT_H
#define SYNC_DELIVERY_BULK_BISECT_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct document;

struct bisect {
    unsigned n_open;    /* batches not yet answered */
    bool is_out;        /* one of them is sent */
    size_t n_documents; /* in the first request */
    unsigned n_holds;   /* of the index, before the search */
    size_t n_refused, refused_cap;
    struct document **refused;
    bool is_accepted; /* the engine took some part */
    bool is_given_up;
    struct err why; /* the engine's last refusal */
};

/* Returns a search with one open batch, which is sent. */
struct bisect *bisect_new(size_t n_documents) RETURNS_NONNULL MUST_CHECK;
/* Count one more batch, cut from an open one. */
struct bisect *bisect_open(struct bisect *b) RETURNS_NONNULL;
/* Tell whether the search cannot find a document to blame any more. */
bool bisect_is_hopeless(const struct bisect *b);
/* Record that doc stands alone and is to blame. */
void bisect_refuse(struct bisect *b, struct document *doc);
/*
 * Close a batch that was answered.  Returns true if it was the last: the owner judges the
 * refused documents and frees b.
 */
bool bisect_close(struct bisect *b) MUST_CHECK;
void bisect_free(struct bisect *b); /* NULL is allowed */

#endif
