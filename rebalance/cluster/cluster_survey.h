/*
 * A cluster as one node has just read it, for people: its state, the data of each node that
 * lives, and what this node makes of them.
 */
#ifndef REBALANCE_CLUSTER_CLUSTER_SURVEY_H
#define REBALANCE_CLUSTER_CLUSTER_SURVEY_H

#include "rebalance/cluster/cluster_ops.h"
#include "rebalance/cluster/cluster_state.h"
#include "rebalance/cluster/node_data.h"
#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

/* Zero-initialise it, and release it with cluster_survey_free(). */
struct cluster_survey {
    struct cluster_state state;
    struct node_data *nodes; /* each id once */
    size_t n;
    struct cluster_view view;
};

/* Adds a node by the text of its data. Of data that nobody can read only the id is known. */
void cluster_survey_add(struct cluster_survey *s, struct str id, struct str text);
void cluster_survey_copy(struct cluster_survey *to, const struct cluster_survey *from);
void cluster_survey_free(struct cluster_survey *s);

/*
 * The same as cluster_survey() (cluster.h), but what was read last will do if nothing has
 * changed since. Else waits wait_ms at most. False: the coordination does not answer, or there
 * is none. Zero-initialise *out.
 */
static inline bool cluster_known(struct cluster *c, int64_t wait_ms, struct cluster_survey *out)
{
    return c->ops->known(c, wait_ms, out);
}

/* Returns the node that was given the thing last; NULL: none has it now. Of one that was left
 * out nobody knows what it has. */
const struct node_data *cluster_survey_owner(const struct cluster_survey *s, struct str thing);

/*
 * Returns how a node is, in a word: "normal", "rebalancing" (others wait for it), "waiting" (it
 * has stopped what it gives away, and waits for them), "starting"
 * (no rebalance has counted on it yet), "left out" (it lives and did not answer), "evacuating",
 * "evacuated", "gone".
 */
const char *cluster_survey_word(const struct cluster_survey *s, struct str id);

#endif
