/*
 * struct table_trees: the anti-entropy trees of the index version that searches use, and their
 * exchanges, at one moment.
 *
 * @thread its maker's
 */
#ifndef REBALANCE_VIEW_TABLE_TREES_H
#define REBALANCE_VIEW_TABLE_TREES_H

#include "rebalance/trees/trees.h"
#include "rebalance/verify/compared.h"
#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct coordinator;
struct definitions;
struct stored_version;

struct table_trees {
    bool are_wanted; /* the version should have some */
    struct trees_view now;
    struct exchanges exchanges;
    int64_t since_ms;  /* wall: the last exchange ended, or could have begun first */
    int64_t late_ms;   /* wall: from then on the next one is too late */
    bool is_one_ahead; /* a comparison, or an exchange, runs before the next one */
};

/* index: the version's, orders_v2. */
void coordinator_look_at_trees(struct coordinator *co, const struct definitions *d,
                               const struct stored_version *v, struct str index,
                               struct table_trees *out);

#endif
