/* What people see of the cluster of nodes that share the store. */
#ifndef REBALANCE_VIEW_CLUSTER_H
#define REBALANCE_VIEW_CLUSTER_H

#include "rebalance/cluster/cluster.h"

struct doctor_list;
struct json_writer;

/* Append the member "cluster"; NULL: the store is shared with nobody. */
void coordinator_put_cluster(struct json_writer *w, const struct cluster_view *v);
/* Add checks: the coordination answers, the cluster is normal, who has rights, the time-out. */
void coordinator_check_cluster(const struct cluster_view *v, struct doctor_list *l);

#endif
