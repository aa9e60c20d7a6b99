/*
 * struct topics: the topics that run on this node, with the sources that they follow.
 *
 * state_lock guards the list, so that others may look into it.  Who changes it holds
 * admin_lock, too, and may read it with that alone.
 */
#ifndef REBALANCE_STATE_TOPICS_H
#define REBALANCE_STATE_TOPICS_H

#include "src/base/err.h"
#include "sync/pipeline/pipeline.h"

#include <stdint.h>

struct source_registry;

/* Why a document became a dead letter, as far as the engine's answer tells. */
enum dead_reason {
    DEAD_ROW = 0,   /* its row makes no document */
    DEAD_TOO_LARGE, /* larger than a request that the engine accepts */
    DEAD_REFUSED,   /* the engine refused it */
    N_DEAD_REASONS,
};

/* One topic of this node. */
struct topic {
    char *name;
    struct pipeline *pipeline; /* NULL: not running; see why */
    struct err why;
    uint64_t term;
    uint64_t next_epoch; /* epoch taken for the move to another server; 0: none */
    int64_t move_again_ms;
    uint32_t
        server_id; /* the id that we last used at its server; 0: none; guarded by state_lock */
    struct err move_why; /* why the move has not succeeded yet; guarded by state_lock */
    int64_t gap_ms;      /* monotonic: when a gap was last closed; 0: never */
    uint64_t dead[N_DEAD_REASONS]; /* dead letters since the start; guarded by state_lock */
    struct topic *next;
};

struct topics {
    struct topic *first;
    struct source_registry *registry;
    struct pipeline *retired; /* stopped pipelines that deliveries in flight may still use;
                                 guarded by admin_lock */
};

#endif
