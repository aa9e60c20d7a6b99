/*
 * The nodes that told the store of themselves, and do not live now.
 *
 * @thread any; pure
 */
#ifndef REBALANCE_VIEW_AWAY_H
#define REBALANCE_VIEW_AWAY_H

#include "rebalance/cluster/cluster.h"
#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct doctor_list;
struct stored_told_node;

/* What a node told last as a person stopped it has the member "stopped", with the time. */
bool away_is_shut_down(const struct stored_told_node *n);

/* Returns "lives", "shut down" or "gone"; "unknown" while the coordination does not answer. */
const char *away_word(const struct cluster_view *v, const struct stored_told_node *n);

/* Warn of each node that is away, and that nobody has evacuated. */
void away_check(const struct cluster_view *v, const struct stored_told_node *nodes, size_t n,
                int64_t now_ms, struct doctor_list *l);

#endif
