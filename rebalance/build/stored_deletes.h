/*
 * struct stored_deletes: repeats the stored deletes of an index, from a version on.
 *
 * Engines forget deletes, and something older may have arrived after one: a row that a build
 * read before the delete, or a copy of what an earlier daemon sent. Writes each delete again at
 * its own version, strictly: a row that took over the key in the same event has the delete's
 * version.
 *
 * Keeps only a few pages in flight: deletes have no key, so delivery never purges them, and an
 * index that accepts nothing must not fill the memory with them.
 *
 * @thread the creator's; tickets end on any
 */
#ifndef REBALANCE_BUILD_STORED_DELETES_H
#define REBALANCE_BUILD_STORED_DELETES_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct delivery;
struct stop;
struct store;
struct stored_deletes;
struct target;

/* Copies index. */
struct stored_deletes *stored_deletes_new(struct store *store, struct delivery *delivery,
                                          const char *index,
                                          uint64_t version_min) RETURNS_NONNULL MUST_CHECK;
/* Pages in flight end by themselves. NULL is fine. */
void stored_deletes_free(struct stored_deletes *d);

/*
 * Hand over more deletes for the index's target t, as far as they may go out now. Blocks on the
 * store and while delivery has no room. ERR_RETRY: some were given up, and all deletes begin
 * anew.
 */
bool stored_deletes_go_on(struct stored_deletes *d, struct target *t, struct stop *stop,
                          struct err *err) MUST_CHECK;
/*
 * Repeat all of them. Blocks, until for so long none was taken: then ERR_RETRY, as when the
 * program stops.
 */
bool stored_deletes_repeat(struct stored_deletes *d, struct target *t, struct stop *stop,
                           int64_t idle_ms, struct err *err) MUST_CHECK;
/* Whether each delete has been written or lost to something newer. */
bool stored_deletes_are_done(const struct stored_deletes *d);

#endif
