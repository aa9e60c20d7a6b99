/*
 * The calls about delayed tables: what waits, run it, mark it as done.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks)
 */
#ifndef REBALANCE_DELAYED_ORDERS_H
#define REBALANCE_DELAYED_ORDERS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/later/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct coordinator;

/* Snapshots, by id; f->limit 0: as many as usual. */
bool coordinator_delayed(struct coordinator *co, const struct snapshot_filter *f,
                         struct buf *json, struct err *err) MUST_CHECK;
/* The runs that there are, and if asked how many snapshots wait of each table. */
bool coordinator_delayed_runs(struct coordinator *co, bool waiting, struct buf *json,
                              struct err *err) MUST_CHECK;

struct delayed_order {
    struct str topic;    /* of this one only; empty: of all */
    struct str table;    /* its snapshots; empty: of all tables */
    const uint64_t *ids; /* these snapshots; for a run one of them, which stays as it is */
    size_t n_ids;        /* 0: not by id */
    bool dry_run;        /* only say what a run would cost */
};
#define DELAYED_IDS_MAX 1000
/*
 * Begin a run of each topic that has such snapshots, or of the table's.  HTTP status 503: a
 * topic has a run already; its number is told.  TURN_TAKEN (rebalance/state/turns.h): an index
 * is being built, and no topic's run is begun.  The answer names the jobs, which every reader
 * of this node then finds.
 */
bool coordinator_delayed_run(struct coordinator *co, const struct delayed_order *o,
                             struct buf *json, struct err *err) MUST_CHECK;
/*
 * What such a run would take, and how many rows the server would read for each `level_sql`, as
 * it guesses.  On any node.  Blocks on the server as errands do (rebalance/watch/errand.h).
 */
bool coordinator_delayed_cost(struct coordinator *co, const struct delayed_order *o,
                              struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_delayed_done(struct coordinator *co, const struct delayed_order *o,
                              struct buf *json, struct err *err) MUST_CHECK;

/* Whether a run of all these topics may begin, as far as this node knows; else TURN_TAKEN. */
bool coordinator_delayed_may_run(struct coordinator *co, const struct delayed_order *o,
                                 const struct str *topics, size_t n,
                                 struct err *err) MUST_CHECK;
/* List the topics that an order concerns.  Blocks on the store. */
bool coordinator_topics_of_delayed(struct coordinator *co, const struct delayed_order *o,
                                   struct arena *a, struct str **topics, size_t *n,
                                   struct err *err) MUST_CHECK;

#endif
