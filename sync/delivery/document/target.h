/*
 * struct target: one concrete index version (orders_v2) that documents are written to.
 *
 * Immutable but for its counters.  Reference-counted: documents of a version may still be in
 * flight when the definitions change.
 *
 * @thread any
 */
#ifndef SYNC_DELIVERY_DOCUMENT_TARGET_H
#define SYNC_DELIVERY_DOCUMENT_TARGET_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target_counters { /* atomics */
    uint64_t indexed, deleted, superseded, dead, retried, bytes;
    uint64_t rows_come, rows_gone; /* of its table, as the stream has them */
};

struct target {
    char *index;       /* concrete: "orders_v2" */
    char *write_alias; /* the alias that bulk requests name, with require_alias */
    char *table;       /* "shop.orders", for dead letters and metrics */
    char *topic;
    char *pipeline;       /* the engine's, that documents pass; NULL: none */
    bool cross_topic;     /* reads of its documents also go to servers of other topics */
    uint64_t version_min; /* lineage: a stored version below it is not ours */
    void *plan;           /* the document plan for re-reads; plan_free frees it */
    void (*plan_free)(void *plan);
    const struct str *areas; /* parts that can be written alone; owned by the plan */
    size_t n_areas;          /* 0: documents are written whole, without a record of areas */
    /*
     * One routing for each shard of the index, if only a read tells a document's routing
     * (join): delivery is then asked for the document under each of them, and deletes it where
     * it does not belong.
     */
    const struct str *shards;
    size_t n_shards; /* 0: not needed */
    struct target_counters count;
    unsigned refs;
};

/*
 * Returns a target with one reference.  Copies the strings.  The caller sets cross_topic,
 * version_min, plan, areas and shards, and calls target_set_pipeline().
 */
struct target *target_new(struct str index, struct str write_alias, struct str table,
                          struct str topic) RETURNS_NONNULL MUST_CHECK;
/* Copies the name; empty: none. */
void target_set_pipeline(struct target *t, struct str name);
struct target *target_ref(struct target *t) RETURNS_NONNULL;
void target_unref(struct target *t); /* NULL is allowed */

#endif
