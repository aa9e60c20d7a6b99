/*
 * The coordinator: decides what runs on this node and answers requests.
 *
 * It owns the pipelines (one per topic), the builds and the one delivery, and applies
 * definitions at run time. The calls that serve API routes and commands stand in headers beside
 * their sources: rebalance/admin (definitions.h, questions.h, settings.h, drain.h, nodes.h),
 * rebalance/version/index.h, rebalance/topic/orders.h, rebalance/dead_letter/orders.h,
 * rebalance/verify/verify.h, rebalance/trace/trace.h. All of them keep the rules that follow.
 * Answers are JSON: one object, whose "schema" member names the versioned form (docs/api.md). A
 * refusal is ERR_REJECT with the HTTP status in err.code (400, 404, 409, 422); temporary
 * trouble is ERR_RETRY (503).
 *
 * A coordinator that is open but not started serves the commands that work without a daemon
 * (apply, export, explain, mapping, doctor, list).
 *
 * @thread any (locked inside; calls may block on MySQL, the engine or the store)
 */
#ifndef REBALANCE_STATE_COORDINATOR_H
#define REBALANCE_STATE_COORDINATOR_H

#include "rebalance/state/runs.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/config/settings.h"
#include "src/store/store.h"
#include "src/store/turn.h"
#include "sync/delivery/delivery.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alarm_options;
struct buf;
struct configuration;
struct coordinator;
struct search;
struct zookeeper_options;

struct coordinator_options {
    struct store *store;   /* borrowed */
    struct search *search; /* borrowed */
    const char *data_dir;  /* borrowed; for spill files and relative paths of secrets */
    const char *node;      /* copied; this node's id, a UUID; NULL: a new one */
    const char *node_name; /* copied; its name for people; NULL: that of the machine */
    const char *address;   /* borrowed; of its page, for people; NULL: none */
    bool is_shared;        /* other nodes use the store, and own topics */
    /* Where those nodes meet, if it is shared.  Borrowed during the open. */
    const struct zookeeper_options *coordination;
    bool compress;    /* gzip the bodies of bulk requests */
    size_t event_max; /* source.event_max, bytes */
    /* Copied; the delivery settings come from it.  NULL: the defaults. */
    const struct configuration *configuration;
    size_t dead_letters_max;     /* beyond this, store none and hold the index concerned */
    int64_t dead_letters_old_ms; /* age at which a letter causes a warning */
    int64_t retire_after_ms;     /* age at which retired indexes are deleted; 0: never */
    struct keeping keep;         /* index.keep_versions, index.keep_for */
    int64_t verify_within_ms;    /* age of the last comparison that causes a warning; 0: none */
    int64_t expect_ms[N_RUN_KINDS];     /* check.expect_every and the like; 0: never */
    int64_t verify_every_ms;            /* index.verify_every; 0: never */
    uint64_t verify_rate;               /* index.verify_rate; 0: no limit */
    enum build_check verify_builds;     /* index.verify_builds */
    bool trees;                         /* index.trees */
    int64_t exchange_every_ms;          /* index.exchange_every */
    const struct alarm_options *alarms; /* borrowed during the open; NULL: none are sent */
    int64_t check_every_ms;             /* how often to compare the engine with the store */
};

bool coordinator_open(struct coordinator **out, const struct coordinator_options *opt,
                      struct err *err) MUST_CHECK;
/* Start delivery, a pipeline for each topic, and the builds that were cut off. */
bool coordinator_start(struct coordinator *co, struct err *err) MUST_CHECK;
/* Drain within the deadline, save positions, stop every thread. */
void coordinator_stop(struct coordinator *co);
void coordinator_close(struct coordinator *co);

/* Returns how long coordinator_stop() may spend on delivering what is in flight. */
int64_t coordinator_stop_ms(struct coordinator *co);

#endif
