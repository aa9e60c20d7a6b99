/*
 * Which index versions have anti-entropy trees (rebalance/trees/trees.h): those that searches
 * use, if `index.trees` or the table's `compare` says so, but for those whose documents a
 * pipeline of the engine may change, whose rows are read by time, or that do not keep documents
 * as they were sent.
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

/* How an index is compared by itself: as `compare` of its tables says, else as for all. */
struct compare_settings {
    bool trees;
    int64_t exchange_every_ms;
    int64_t every_ms; /* all of it; 0: never */
    uint64_t rate;    /* rows and ids per second; 0: no limit */
};
struct compare_settings coordinator_compare_settings(const struct coordinator *co,
                                                     const struct definitions *d,
                                                     struct str index);

/* Opens the folder of trees, if there is a data folder. Sets co->trees, or co->no_trees.
 * Blocks.
 */
void coordinator_open_trees(struct coordinator *co);
/* Has delivery tell the trees what either side has. */
void coordinator_feed_trees(struct coordinator *co, struct delivery_options *o);

/* Waits until the trees have what delivery told them. ctx is the coordinator. @thread any */
void coordinator_flush_trees(void *ctx);

/* Before a topic's changes are read under this term. Under admin_lock. Blocks on the disk. */
void coordinator_follow_trees(struct coordinator *co, struct str topic, uint64_t term);
/* Ends the trees of all indexes that show the topic. Blocks on the disk. */
void coordinator_end_trees(struct coordinator *co, struct str topic);
/* Ends the trees that nobody wants any more. Under admin_lock. Blocks on the disk. */
void coordinator_drop_trees(struct coordinator *co);

bool coordinator_wants_trees(const struct coordinator *co, const struct definitions *d,
                             const struct stored_version *v);

#endif
