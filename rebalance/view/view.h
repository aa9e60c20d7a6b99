/*
 * struct coordinator_view: the state of this node's topics and tables at one moment.
 *
 * Status, page, metrics and doctor all read this, so they agree.  It is a copy, made under the
 * node's locks (told.h: what it may wait for).  What others said is as of then (watch/).
 *
 * @thread its maker's
 */
#ifndef REBALANCE_VIEW_VIEW_H
#define REBALANCE_VIEW_VIEW_H

#include "rebalance/doctor/doctor.h"
#include "rebalance/state/parts.h"
#include "rebalance/verify/compared.h"
#include "rebalance/view/build_view.h"
#include "rebalance/view/condition.h"
#include "rebalance/view/table_trees.h"
#include "rebalance/view/told.h"
#include "rebalance/watch/engine_watch.h"
#include "sync/pipeline/pipeline.h"

#include <stdint.h>

#define TOPIC_WARNINGS 6
struct topic_warning {
    const char *id, *why; /* of the doctor's check */
    struct str text;
    struct doctor_value values[2];
};

struct topic_view {
    const struct topic_definition *d;
    struct told_topic told; /* if another node owns it, the rest but `is` is not known */
    struct condition is;
    bool runs;                     /* status is known */
    struct pipeline_status status; /* the arena owns its GTIDs */
    struct topic_warning warnings[TOPIC_WARNINGS];
    size_t n_warnings;
    const struct stored_checkpoint *stored; /* if it does not run; NULL: not known */
    struct lag lag;                         /* of all that it has to deliver */
    struct str lag_of; /* the table with the oldest change, if it has left the log; or empty */
};

struct table_view {
    const struct table_definition *d;
    struct str topic;
    struct told_table told;                            /* likewise */
    const struct stored_version *available, *changing; /* NULL: none */
    const struct stored_wait *wait; /* of a version that is built; NULL: none */
    struct condition is;
    bool is_doubted; /* `apply` would refuse its definition today; `is` says why */
    struct build_view build;
    struct lag own, lag;        /* own: of changes that its topic's log has passed */
    uint64_t dead;              /* dead letters */
    struct index_counts counts; /* of all versions of its index since the start */
    bool is_pending;            /* its definition takes effect with the next build */
    struct str verify;          /* why its documents should be verified; or empty */
    int64_t delivered_ms;       /* wall: the last write to its index; 0: none since the start */
    int64_t held_ms;  /* wall: since when the engine takes no change of it; 0: it does */
    bool is_compared; /* its whole index was verified */
    struct compared compared;     /* when, and what was found */
    struct table_trees trees;     /* of the version that searches use */
    struct repair_counts repairs; /* likewise; not in comparisons of all of it */
    int64_t verify_due_ms;        /* wall: when Millrace compares it by itself; 0: never */
    struct document_count documents;
    struct str work; /* its members "fan_out", "cascades", "sync" and "kept", as JSON */
};

struct coordinator_view {
    struct arena *arena;
    struct definitions *definitions;
    struct catalogue *catalogue;
    int64_t now_ms;                 /* wall time */
    int64_t verify_within_ms;       /* 0: a table is never too long without a comparison */
    int64_t expect_ms[N_RUN_KINDS]; /* 0: nothing is expected */
    struct engine_heard engine;
    struct heard store;
    struct cluster_view *cluster; /* NULL: the store is shared with nobody */
    struct store_copy *stored;    /* NULL: the store never answered */
    struct topic_view *topics;
    struct table_view *tables;      /* in the order of the definitions */
    const struct finding *findings; /* of the last look at the engine */
    size_t n_findings;
    bool is_glance;
};

struct coordinator_view *
coordinator_view_new(struct coordinator *co) RETURNS_NONNULL MUST_CHECK;
/* The same, but all except these topics are as if other nodes owned them. */
struct coordinator_view *coordinator_view_of(struct coordinator *co, const struct str *topics,
                                             size_t n) RETURNS_NONNULL MUST_CHECK;
void coordinator_view_free(struct coordinator_view *v);
/* Append the members "lag_seconds", "lag_at_most" and "oldest". */
void coordinator_put_lag(struct json_writer *w, struct lag lag, int64_t now_ms);

#endif
