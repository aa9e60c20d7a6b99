/*
 * The copies of a document that an index has: at most one in each shard.
 *
 * @thread any; the functions with an err block on the engine
 */
#ifndef REBALANCE_VERIFY_LOOK_COPIES_H
#define REBALANCE_VERIFY_LOOK_COPIES_H

#include "rebalance/verify/look/verdict.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct search;
struct search_document;

/* Find a routing for each shard.  ERR_RETRY if the engine does not say. */
bool copies_find_shards(struct search *s, struct str index, struct arena *a, struct str **out,
                        size_t *n, struct err *err) MUST_CHECK;
/* Take those that are there from the answers for one document, one a shard. */
struct verify_copy *copies_take(const struct search_document *answers, size_t n_shards,
                                struct arena *a, size_t *n) RETURNS_NONNULL;
/* Get the copies of one document.  (Without its JSON, the engine leaves out its routing.) */
bool copies_get(struct search *s, struct str index, struct str id, struct arena *a,
                const struct verify_copy **out, size_t *n, struct err *err) MUST_CHECK;

#endif
