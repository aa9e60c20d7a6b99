/*
 * Which index versions have anti-entropy trees (rebalance/trees/trees.h): those that searches
 * use, if `index.trees` says so, but for those whose documents a pipeline of the engine may
 * change, whose rows are read by time, or that do not keep documents as they were sent.
 */
#ifndef REBALANCE_VERSION_TREES_H
#define REBALANCE_VERSION_TREES_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct coordinator;
struct delivery_options;
struct stored_version;
struct definitions;

/* Opens the folder of trees, or removes it if none are wished for. Sets co->trees. Blocks. */
bool coordinator_open_trees(struct coordinator *co, struct err *err) MUST_CHECK;
/* Has delivery tell the trees what either side has. */
void coordinator_feed_trees(struct coordinator *co, struct delivery_options *o);

/* Waits until the trees have what delivery told them. ctx is the coordinator. @thread any */
void coordinator_flush_trees(void *ctx);

/* Before a topic's changes are read under this term. Under admin_lock. Blocks on the disk. */
void coordinator_follow_trees(struct coordinator *co, struct str topic, uint64_t term);
/* Ends the trees of versions that searches use no more. Under admin_lock. */
void coordinator_drop_trees(struct coordinator *co);

bool coordinator_wants_trees(const struct coordinator *co, const struct definitions *d,
                             const struct stored_version *v);

#endif
