/*
 * The cluster's state: the one small value that outlives every node. It says which rebalance is
 * the newest, of whom, and what people asked for. Whoever writes it gives the version that it
 * read.
 *
 * The text is JSON, read as struct node_data is.
 */
#ifndef REBALANCE_CLUSTER_CLUSTER_STATE_H
#define REBALANCE_CLUSTER_CLUSTER_STATE_H

#include "rebalance/cluster/name_set.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialise it, and release it with cluster_state_free(). */
struct cluster_state {
    uint64_t session;          /* of the newest rebalance; never falls */
    bool is_running;           /* that rebalance has not ended */
    struct buf leader;         /* the node that runs it, or ran it */
    uint64_t revision;         /* of the list of things that it was planned for */
    uint64_t asked;            /* counts what people asked for */
    uint64_t planned;          /* asked, as it was when the rebalance was planned */
    struct name_set members;   /* nodes that take part */
    struct name_set left_out;  /* nodes that live and did not answer */
    struct name_set evacuated; /* nodes that shall have nothing */
    struct name_set moves;     /* "THING NODE": the thing shall be on the node */
    struct buf unknown;
};

void cluster_state_format(struct buf *out, const struct cluster_state *s);

/* Replaces *s; an empty text is the state before the first rebalance. ERR_REJECT, with *s
 * empty. */
bool cluster_state_parse(struct cluster_state *s, struct str text, struct err *err) MUST_CHECK;

void cluster_state_copy(struct cluster_state *to, const struct cluster_state *from);
void cluster_state_free(struct cluster_state *s);

/* Returns the node that the thing shall be on, of length 0 if nobody asked for one. Valid until
 * the state changes. */
struct str cluster_state_wish(const struct cluster_state *s, struct str thing);
/* Returns the thing that the node is asked to have, the i-th of all; an empty one after the
 * last. Valid until the state changes. */
struct str cluster_state_wished(const struct cluster_state *s, struct str node, size_t i);
/* Asks for the thing to be on the node; an empty node: anywhere. */
void cluster_state_set_wish(struct cluster_state *s, struct str thing, struct str node);

#endif
