/*
 * struct stored_view: what the store says, for the comparison with the engine.
 *
 * @thread its maker's
 */
#ifndef REBALANCE_STATE_STORED_VIEW_H
#define REBALANCE_STATE_STORED_VIEW_H

#include "rebalance/watch/whose.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

struct arena;
struct catalogue;
struct coordinator;
struct definitions;

/* What the store says, for the comparison with the engine; facts.epochs is not filled. */
struct stored_view {
    struct arena *arena; /* owns the lists of the facts */
    struct catalogue *catalogue;
    struct definitions *definitions;
    struct stored_facts facts;
};
void coordinator_stored_view(struct coordinator *co, struct stored_view *v);
void coordinator_stored_view_free(struct stored_view *v);

#endif
