/*
 * One step of a delayed run: the next snapshots become parts that any node takes
 * (rebalance/delayed/parts.h), or fan-out jobs, few at a time.
 *
 * The fan-out (sync/related/fan_out/fan_out.h) reads documents again through ordinary versions
 * and with its share of all writes.  A run itself writes nothing, and whoever goes on with it,
 * after a restart or on another node, puts at most one page of jobs again.
 *
 * @thread the delayed runs'
 */
#ifndef REBALANCE_DELAYED_PAGE_H
#define REBALANCE_DELAYED_PAGE_H

#include "rebalance/state/parts.h"

#include "src/store/later/snapshot.h"

#define DELAYED_PAGE     100  /* snapshots */
#define DELAYED_JOBS_MAX 2000 /* that wait; then a run waits, too */
#define DELAYED_PARTS    64   /* the same */

struct level_keys;

enum delayed_step {
    DELAYED_GOES_ON = 0,
    DELAYED_WAITS, /* for builds, jobs or parts */
    DELAYED_ENDED,
};

struct delayed_run {
    struct coordinator *co;
    struct snapshot_owner owner;
    struct pipeline *pipeline;       /* borrowed */
    struct snapshot_run at;          /* its place, in the arena */
    struct arena *arena;             /* of the step */
    struct stall_watchdog *watchdog; /* of waits for the server; borrowed */
    struct level_keys *known;        /* of the steps before; borrowed */
    uint64_t n_jobs, n_parts;        /* that are not done, after the step */
    struct str part_waits;           /* why a part does, in the arena; empty: none does */
    const char *waits_for;           /* a build, in words, in the arena; NULL: for none */
    size_t n_unbuilt;                /* at its end: indexes that should have been built */
    void (*asks)(const struct delayed_run *r, struct str table); /* before its `level_sql` */
};
/* Blocks on the store, and for a top relation on the server. */
bool delayed_run_step(struct delayed_run *r, enum delayed_step *how,
                      struct err *err) MUST_CHECK;

#endif
