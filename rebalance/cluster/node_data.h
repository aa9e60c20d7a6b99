/*
 * The node data: what a node and the leader of a rebalance write into the node's ephemeral, and
 * what others read there.
 *
 * Both of them write it, each with the version that it read, so that no answer and no command
 * is overwritten unseen (docs/adr/0050-the-barrier-keeps-what-stays.md). The text is JSON.
 */
#ifndef REBALANCE_CLUSTER_NODE_DATA_H
#define REBALANCE_CLUSTER_NODE_DATA_H

#include "rebalance/cluster/name_set.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum cloud_status {
    CLOUD_NORMAL,
    CLOUD_REBALANCING,
};

enum node_status {
    NODE_CLEAN,    /* the leader's: stop what is not in jobs */
    NODE_CLEAN_OK, /* the node's: nothing runs but what is in jobs */
    NODE_INIT,     /* the leader's: start what is in jobs */
    NODE_FINISH,   /* the node's: all of it runs, or is done */
    NODE_NORMAL,   /* the node's: so have all others */
};

/* Zero-initialise it, and release it with node_data_free(). */
struct node_data {
    struct buf id;       /* of the data folder */
    struct buf name;     /* of the machine, for people */
    struct buf version;  /* of the program */
    uint64_t started_ms; /* the program, of wall time; 0: not known */
    enum cloud_status cloud;
    enum node_status status;
    uint64_t session; /* of the rebalance; 0: of none */
    struct buf job_type;
    struct name_set jobs; /* "topic/shop", "job/12" */
    struct buf parameters;
    uint64_t n_threads; /* that live */
    bool is_evacuated;
    struct buf unknown; /* members that this program does not know, as text */
};

/* Appends the text. */
void node_data_format(struct buf *out, const struct node_data *d);

/* Replaces *d. ERR_REJECT, with *d empty, if the text is not a node's data. */
bool node_data_parse(struct node_data *d, struct str text, struct err *err) MUST_CHECK;

void node_data_copy(struct node_data *to, const struct node_data *from);
bool node_data_equal(const struct node_data *a, const struct node_data *b);
void node_data_free(struct node_data *d);

/* "CLEAN", "CLEAN_OK", ... */
struct str node_status_name(enum node_status s);

#endif
