/*
 * struct topics: the topics that run on this node, with the sources that they follow.
 *
 * The lock guards the list, so that others may look into it.  Who changes it holds admin_lock,
 * too, and may read it with that alone.
 *
 * Topics and definitions have locks of their own, because no moment exists in which they agree:
 * a change stores definitions, puts them in force, and only then starts and stops topics.  Who
 * needs both takes a reference to the definitions first and then looks for the topics that they
 * name; a topic that does not run yet, or runs no more, is not found or has no pipeline.  Only
 * admin_lock makes the two one.
 */
#ifndef REBALANCE_STATE_TOPICS_H
#define REBALANCE_STATE_TOPICS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/lock.h"
#include "src/base/str.h"
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

    /* Guarded by the lock of the topics. */
    struct pipeline *pipeline; /* a reference; NULL: not running; see why */
    struct err why;
    uint32_t server_id;            /* the id that we last used at its server; 0: none */
    struct err move_why;           /* why the move has not succeeded yet */
    uint64_t dead[N_DEAD_REASONS]; /* dead letters since the start */
    struct topic *next;

    /* Guarded by admin_lock. */
    uint64_t term;
    bool term_is_fresh;   /* no pipeline has started under it */
    bool needs_take_over; /* another node had it since this one worked on it */
    int64_t give_back_ms; /* it is being given back, at this time at the latest; 0: it is not */
    uint64_t mark;        /* pipeline_mark() of the last look while it is given back */
    int64_t moved_on_ms;  /* monotonic: when that changed last */
    uint64_t next_epoch;  /* epoch taken for the move to another server; 0: none */
    int64_t move_again_ms;
    int64_t gap_ms;        /* monotonic: when a gap was last closed; 0: never */
    unsigned thrown_out;   /* how often the server lately ended its reader for another one */
    int64_t thrown_out_ms; /* monotonic: when it last did */
};

struct topics {
    struct lock lock; /* LOCK_topics_lock */
    struct topic *first;
    struct source_registry *registry; /* never replaced */
};

struct topics *topics_new(void) RETURNS_NONNULL MUST_CHECK;
/* After delivery has ended: frees the pipelines, too.  NULL is fine. */
void topics_free(struct topics *all);
/* Returns NULL if there is none.  Needs the lock, or admin_lock. */
struct topic *topics_find(const struct topics *all, struct str name) MUST_CHECK;
/* Frees a topic that is in no list and has no pipeline. */
void topic_free(struct topic *t);

#endif
