/*
 * The wishes of other nodes: requests about topics that this node owns, carried out as if they
 * had come to its own API (rebalance/shared/wishes.h).
 *
 * One thread looks for them, if other nodes share the store; a few threads of their own carry
 * them out, so that neither they nor people's requests delay one another.
 *
 * @thread the owner's
 */
#ifndef WEB_WISHES_H
#define WEB_WISHES_H

#include "src/base/base.h"
#include "web/api.h"

struct wishes;

/* Returns NULL if nobody else has the store.  What api points to must outlive it. */
struct wishes *wishes_start(const struct api *api) MUST_CHECK;
/* Take no more, and end those that were taken.  Blocks.  NULL is fine. */
void wishes_stop(struct wishes *w);

#endif
