/*
 * What the coordinator's files share: the state of this node. No file outside rebalance/ and
 * the tests includes this.
 *
 * src/base/lock_order.def says what each lock protects and in which order to take them.
 */
#ifndef REBALANCE_STATE_PARTS_H
#define REBALANCE_STATE_PARTS_H

#include "rebalance/build/index_build.h"
#include "rebalance/cluster/cluster.h"
#include "rebalance/state/catalogue.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/state/holds.h"
#include "rebalance/state/queue_watch.h"
#include "rebalance/state/topics.h"
#include "rebalance/watch/engine_watch.h"
#include "rebalance/watch/errand.h"
#include "rebalance/watch/store_watch.h"
#include "rebalance/watch/whose.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/lock.h"
#include "src/base/thread.h"
#include "src/format/json.h"
#include "src/format/problem.h"
#include "src/search/search.h"
#include "src/store/retired.h"
#include "src/store/store.h"
#include "src/store/waiting.h"
#include "sync/definition/definition.h"
#include "sync/definition/members.h"
#include "sync/document/plan.h"
#include "sync/pipeline/pipeline.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each part that is a pointer has its lock, and its thread if it has one, in its own file. */
struct coordinator {
    struct coordinator_options opt;
    struct cluster *cluster;
    struct delivery *delivery; /* NULL: not started */
    struct stop stop;
    pthread_t thread, aliases_thread;
    bool started; /* atomic */
    int64_t started_ms;
    char uuid[37];  /* the node's; read once, like owner */
    char owner[37]; /* the store's, shared by all nodes of a cluster; marks our indexes */

    /* What people see, and what they ask. */
    struct engine_watch *engine_watch; /* the engine as last seen */
    struct store_watch *store_watch;   /* the store as last seen */
    struct findings *findings;         /* where engine and store differ */
    struct asking *asking;
    struct errands *errands; /* people's requests */

    struct topics *topics;               /* those that run here: state/topics.h */
    struct holds *holds;                 /* indexes that delivery holds */
    struct builds *builds;               /* version/builds.h */
    struct rebuilds *rebuilds;           /* attempts to rebuild tables: version/rebuild.h */
    struct kept_indexes *kept;           /* retired ones that stay: version/retired.h */
    struct drops *drops;                 /* indexes to delete: version/version_drop.h */
    struct route_retry *route_retry;     /* version/routes.h */
    struct settings_sync *settings_sync; /* version/settings.h */
    struct syncs *syncs;                 /* tables read by time: poll/sync.h */
    struct repairs *repairs;             /* purged keys: dead_letter/purged.h */
    struct repeats *repeats;             /* the repair thread's: dead_letter/repeats.h */
    struct replays *replays;             /* dead_letter/replay.h */
    struct live_settings *settings;      /* of delivery, at run time: admin/delivery_set.h */
    struct stored_state *stored;         /* how the store was last read: state/state.c */
    struct queue_watch queue;            /* the coordinator's thread's */

    struct lock apply_lock, admin_lock, shape_lock, marks_lock, state_lock;

    /* Guarded by state_lock.  Replacing definitions needs admin_lock, too. */
    struct definitions *definitions;
    struct catalogue *catalogue;
};

/* How the store was last read. */
struct stored_state {
    struct lock lock;  /* LOCK_refresh_lock */
    bool due;          /* atomic: the store could not be read */
    uint64_t revision; /* of the definitions; guarded by admin_lock, like doubts */
    uint64_t doubts;   /* store_doubts() before the last load */
};

struct stored_state *stored_state_new(void) RETURNS_NONNULL MUST_CHECK;
void stored_state_free(struct stored_state *s); /* NULL is fine */

/*
 * Take admin_lock for a change. Refused once the daemon is stopping. The caller releases
 * admin_lock.
 */
bool coordinator_begin(struct coordinator *co, struct err *err)
    TAKES_IF(true, co->admin_lock) MUST_CHECK;

/* Set the error of a request and return false. status is the HTTP status. */
bool refuse(struct err *err, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/*
 * Who a topic is among the replicas of its server. Of two replicas with the same id, or (MySQL)
 * the same uuid, a server keeps one, so two topics of a node differ in both.
 */
struct replica_identity {
    uint32_t server_id;
    char uuid[37];
};

/* Get the identity: as defined, else as stored, else a new one, which is stored. */
bool coordinator_replica_identity(struct coordinator *co, const struct topic_definition *d,
                                  struct replica_identity *out, struct err *err) MUST_CHECK;
/* Load the ids of this node and its store. Called at the start. */
bool coordinator_load_names(struct coordinator *co, struct err *err) MUST_CHECK;
/*
 * Load definitions and catalogue from the store. On failure both stay as they were, and the
 * load is due. It also becomes due after any transaction whose outcome is unknown, so that its
 * caller need not care.
 */
bool coordinator_load(struct coordinator *co, struct err *err) NEEDS(co->admin_lock) MUST_CHECK;
bool coordinator_is_load_due(const struct coordinator *co) MUST_CHECK;
/*
 * Load versions, stops, rebuilds and waits again after a change to the store. On failure the
 * load is due.
 */
bool coordinator_refresh(struct coordinator *co, struct err *err) MUST_CHECK;
struct definitions *coordinator_definitions(struct coordinator *co)
    RETURNS_NONNULL MUST_CHECK; /* a new reference */
struct catalogue *
coordinator_catalogue(struct coordinator *co) RETURNS_NONNULL MUST_CHECK; /* a new reference */
void coordinator_log(struct coordinator *co, struct str table, struct str index,
                     uint64_t version, const char *event, const char *detail);
void coordinator_log_text(struct coordinator *co, struct str table, struct str index,
                          const char *event, struct str detail); /* concerns no version */
struct definitions *coordinator_parse_stored(const struct stored_definition *stored, size_t n,
                                             struct err *err) MUST_CHECK;
/* Write a time as RFC 3339 in UTC, or null for 0. */
void coordinator_put_time(struct json_writer *w, struct str key, int64_t ms);
/* "orders", 2 -> "orders_v2" and "orders_v2_write" */
void coordinator_index_name(struct buf *b, struct str alias, uint64_t number);
void coordinator_write_alias(struct buf *b, struct str alias, uint64_t number);
/* "orders_v2" -> "orders", 2. alias borrows from index. */
bool coordinator_split_index_name(const char *index, struct str *alias,
                                  uint64_t *number) MUST_CHECK;
/*
 * Find the table that a command's argument names: DATABASE.TABLE, a pattern, or an index alias,
 * whose lead it returns. Returns NULL and a 404 if there is none.
 */
const struct table_definition *coordinator_find_table(const struct definitions *d,
                                                      struct str name,
                                                      struct err *err) MUST_CHECK;
/* What the store says, for the comparison with the engine; facts.epochs is not filled. */
struct stored_view {
    struct arena *arena; /* owns the lists of the facts */
    struct catalogue *catalogue;
    struct definitions *definitions;
    struct stored_facts facts;
};
void coordinator_stored_view(struct coordinator *co, struct stored_view *v);
void coordinator_stored_view_free(struct stored_view *v);
/*
 * Like errand_run(), for an errand that asks the store. Fails at once if the store is known not
 * to answer.
 */
bool coordinator_ask_store(struct coordinator *co, struct errand *e, errand_fn run,
                           struct err *err) MUST_CHECK;
/* A question about a table: the ctx of an errand. */
struct table_question {
    struct coordinator *co;
    struct str table, key; /* in the errand's arena */
};
/* Run an errand with a struct table_question and append the text that it finds to json. */
bool coordinator_ask_of_table(struct coordinator *co, errand_fn run, struct str table,
                              struct str key, struct buf *json, struct err *err) MUST_CHECK;
/* Get the definitions with which the version was built. */
bool coordinator_version_definitions(struct coordinator *co, const struct stored_version *v,
                                     struct definitions **out,
                                     const struct table_definition **lead,
                                     struct err *err) MUST_CHECK;
/* Whether the version was built from this table (among others) or this pattern. */
bool coordinator_version_is_of(const struct stored_version *v, struct str table);
/*
 * Append what a version of the lead's index keeps: the canonical JSON of its table, or a list
 * of all tables joined in it. `instead`, if not NULL, replaces the table of its name.
 */
void coordinator_append_version_json(const struct definitions *d,
                                     const struct table_definition *lead,
                                     const struct table_definition *instead, struct buf *json);
/* Returns the current definitions with the tables of such a JSON text instead of their own. */
struct definitions *coordinator_with_tables(const struct definitions *now, struct str json,
                                            const struct table_definition **lead,
                                            struct err *err) MUST_CHECK;
/*
 * Like coordinator_append_version_json(), but name every column, so that later columns of the
 * database stay out.
 */
bool coordinator_expand_tables(const struct definitions *d, const struct table_definition *lead,
                               plan_schema_fn find, list_tables_fn list, void *ctx,
                               struct buf *json, struct err *err) MUST_CHECK;
/* Append the commands that end the wait. */
void coordinator_append_wait_fix(struct buf *b, const struct stored_wait *w, struct str table);
/* Append the name of the target's lead table: what belongs to the index is stored under it. */
void coordinator_lead_name(struct coordinator *co, const struct target *target,
                           struct buf *name);

#endif
