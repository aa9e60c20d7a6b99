/*
 * What an implementation of the cluster gives, and the values that its calls take.
 * rebalance/cluster/cluster.h has the calls, and says what each does.
 */
#ifndef REBALANCE_CLUSTER_CLUSTER_OPS_H
#define REBALANCE_CLUSTER_CLUSTER_OPS_H

#include "rebalance/cluster/barrier_event.h"
#include "rebalance/cluster/name_set.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cluster;
struct cluster_survey;

enum cluster_wish {
    CLUSTER_NOT_OURS,
    CLUSTER_WORK,      /* own it, and work on it */
    CLUSTER_GIVE_BACK, /* end the work, with its position stored */
    CLUSTER_END,       /* end the work at once, and store nothing */
};

/* What this node is to do with a thing is another. Must not block. @thread the cluster's */
typedef void (*cluster_changed_fn)(void *ctx, struct str thing, enum cluster_wish wish);

struct cluster_order {
    struct str thing;
    enum cluster_wish wish;
};

/* What people see. */
struct cluster_view {
    bool is_connected;         /* to the coordination */
    bool is_normal;            /* the last rebalance has ended, and nothing asks for another */
    bool is_open_to_all;       /* whoever reaches the coordination can change everything */
    int64_t normal_ms;         /* since when it is normal, or not, of clock_mono_ms() */
    uint64_t session;          /* of the newest rebalance; 0: none */
    int64_t state_version;     /* of the cluster state, as the coordination counts */
    uint64_t revision;         /* of the things that the cluster heard of from this node last */
    struct name_set live;      /* ids of the nodes that live, as far as this one knows */
    struct name_set evacuated; /* ids of the nodes that shall have nothing */
    struct buf waits;          /* for whom or what; empty: for nothing */
    struct err trouble;        /* the coordination's, or its refusal */
    int64_t since_ms;          /* of the connection's state, of clock_mono_ms() */
    unsigned timeout_ms;       /* of our session, as granted; 0: none yet */
    unsigned asked_ms;         /* the time-out that was asked for */
};

void cluster_view_copy(struct cluster_view *to, const struct cluster_view *from);
void cluster_view_free(struct cluster_view *v);

struct cluster_ops {
    bool (*start)(struct cluster *c, struct err *err);
    bool (*own)(struct cluster *c, struct str thing, uint64_t *term, struct err *err);
    enum cluster_wish (*wish)(struct cluster *c, struct str thing);
    size_t (*orders)(struct cluster *c, struct arena *a, struct cluster_order **out);
    void (*set_things)(struct cluster *c, const struct barrier_thing *things, size_t n,
                       uint64_t revision);
    void (*ended)(struct cluster *c, struct str thing);
    void (*refused)(struct cluster *c, struct str thing);
    bool (*ask)(struct cluster *c, enum barrier_ask ask, struct str node, struct str thing,
                struct err *err);
    void (*look)(struct cluster *c, struct cluster_view *out);
    bool (*survey)(struct cluster *c, struct cluster_survey *out, struct err *err);
    bool (*known)(struct cluster *c, int64_t wait_ms, struct cluster_survey *out);
    void (*leave)(struct cluster *c);
    void (*close)(struct cluster *c);
};

/* The first member of every implementation. */
struct cluster {
    const struct cluster_ops *ops;
    const char *kind; /* "embedded", "zookeeper" */
};

#endif
