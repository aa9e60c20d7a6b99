/*
 * struct bisect: the search for what made a whole request malformed.
 *
 * Halves of it are sent until the documents to blame stand alone.  Those are kept, in flight,
 * until the last half is answered: only then can it be told whether a few are bad or all.  When
 * many parts were refused and none was accepted, the search is hopeless: it is not a document.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_BISECT_H
#define SYNC_DELIVERY_BISECT_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct document;

struct bisect {
    unsigned n_open;    /* batches that are not yet answered */
    size_t n_documents; /* of the first request */
    size_t n_refused, refused_cap;
    struct document **refused;
    bool is_accepted; /* some part of it was */
    bool is_given_up;
    struct err why; /* the engine's last refusal */
};

/* With one open batch. */
struct bisect *bisect_new(size_t n_documents) RETURNS_NONNULL MUST_CHECK;
/* One more batch, cut from one that is open. */
struct bisect *bisect_open(struct bisect *b) RETURNS_NONNULL;
/* Nothing that it could find would be the document to blame. */
bool bisect_is_hopeless(const struct bisect *b);
/* doc stands alone and is to blame. */
void bisect_refuse(struct bisect *b, struct document *doc);
/* A batch is answered.  True: it was the last; the owner judges the refused and frees b. */
bool bisect_close(struct bisect *b) MUST_CHECK;
void bisect_free(struct bisect *b); /* NULL is fine */

#endif
