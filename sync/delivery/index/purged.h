/*
 * struct purged: purged documents on their way to the store.
 *
 * A purged document ends only when its key is durable.  Until then it is kept here and storing
 * is retried.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_INDEX_PURGED_H
#define SYNC_DELIVERY_INDEX_PURGED_H

#include "src/base/base.h"
#include "sync/delivery/document/document.h"
#include "sync/delivery/index/options.h"

#include <stddef.h>
#include <stdint.h>

struct purged;

/* Borrows opt.  opt->purged must not be NULL if anything is added. */
struct purged *purged_new(const struct delivery_options *opt,
                          uint64_t seed) RETURNS_NONNULL MUST_CHECK;
void purged_free(struct purged *p); /* NULL is allowed */

/* doc must be REFUSED, by document_purge(), and in no queue. */
void purged_add(struct purged *p, struct document *doc);
/* Try to store some of those that wait.  Blocks on the store. */
void purged_turn(struct purged *p, int64_t now_ms);
/* Take a document whose key is durable, or NULL.  The caller ends it as OUTCOME_PURGED. */
struct document *purged_next(struct purged *p);

int64_t purged_wait_ms(const struct purged *p, int64_t now_ms, int64_t max_ms);

#endif
