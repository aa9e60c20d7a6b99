/*
 * struct purged: purged documents on their way to the store.
 *
 * A purged document is done only when its key is durable; until then it is kept here and storing
 * it is tried again.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_PURGED_H
#define SYNC_DELIVERY_PURGED_H

#include "src/base/base.h"
#include "sync/delivery/delivery_options.h"
#include "sync/delivery/document.h"

#include <stddef.h>
#include <stdint.h>

struct purged;

/* opt is borrowed; its callback purged is not NULL where something is added. */
struct purged *purged_new(const struct delivery_options *opt,
                          uint64_t seed) RETURNS_NONNULL MUST_CHECK;
void purged_free(struct purged *p); /* NULL is fine */

/* doc is REFUSED, by document_purge(), and in no queue. */
void purged_add(struct purged *p, struct document *doc);
/* Try to store some of what waits.  Blocks as long as a store does. */
void purged_turn(struct purged *p, int64_t now_ms);
/* One that is durable, or NULL; whoever gets it ends it as OUTCOME_PURGED. */
struct document *purged_next(struct purged *p);

int64_t purged_wait_ms(const struct purged *p, int64_t now_ms, int64_t max_ms);

#endif
