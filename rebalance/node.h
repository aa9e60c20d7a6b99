/*
 * What the coordinator's files share: the state of this node.  Nobody else includes this.
 *
 * Two locks.  `doing` serialises what changes definitions, topics and versions; it is held
 * across calls that block.  `lock` guards the lists that threads of delivery and of builds look
 * into; it is held for a few lines, and may be taken while `doing` is held, never the other way
 * round.
 */
#ifndef REBALANCE_NODE_H
#define REBALANCE_NODE_H

#include "rebalance/coordination.h"
#include "rebalance/coordinator.h"
#include "rebalance/index_build.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/thread.h"
#include "src/json.h"
#include "src/problem.h"
#include "src/search.h"
#include "src/store.h"
#include "sync/document/plan.h"
#include "sync/model/definition.h"
#include "sync/model/definition_members.h"
#include "sync/pipeline.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why documents became dead letters, as far as answers tell. */
enum dead_reason {
    DEAD_ROW = 0,   /* its row makes no document */
    DEAD_TOO_LARGE, /* beyond what the engine takes in one request */
    DEAD_REFUSED,   /* the engine said no to it */
    N_DEAD_REASONS,
};

/* One topic of this node. */
struct topic {
    char *name;
    struct pipeline *pipeline; /* NULL: not running, and why */
    struct err why;
    uint64_t term;
    uint64_t next_epoch; /* taken for another server that is to be followed on; 0: none */
    int64_t move_again_ms;
    struct err move_why; /* why that one is not followed yet; guarded by the node's lock */
    int64_t gap_ms; /* when a gap was closed last, 0: never */
    uint64_t dead[N_DEAD_REASONS]; /* letters since the start; guarded by the node's lock */
    struct topic *next;
};

/* Builds that are over and wait for the coordinator's thread. */
struct finished_build {
    struct index_build *build;
    struct err why; /* ERR_NONE: its version is searched */
    struct finished_build *next;
};

/* What is known of indexes: their versions, stops and rebuilds, as stored; replaced as a whole. */
struct catalogue {
    struct arena *arena;
    struct stored_version *versions;
    size_t n_versions;
    struct stored_stop *stops;
    size_t n_stops;
    struct stored_rebuild *rebuilds;
    size_t n_rebuilds;
};

struct held_index {
    char *index;
    struct err why;
    int64_t since_ms;
    struct held_index *next;
};

#define BUILDS_MAX 64

struct coordinator {
    struct coordinator_options opt;
    struct coordination *coordination;
    struct delivery *delivery; /* NULL: not started */
    struct stop stop;
    pthread_t thread, sync_thread, repair_thread;
    bool started;        /* atomic */
    bool routes_due; /* atomic: what one topic met concerns documents of another */
    bool tables_changed; /* atomic: DDL was met since rebuilds were tried last */
    int64_t started_ms;
    char uuid[37]; /* the node's */

    pthread_mutex_t doing;

    /* All guarded by doing. */
    uint64_t revision;
    int64_t pruned_ms;
    int64_t aliases_ms; /* when aliases that were moved were looked at last */
    int64_t drops_ms; /* monotonic: node_end_drops() looks again */
    int64_t replays_ms; /* the same of node_replay_wanted(); atomic */
    int64_t blocked_since_ms; /* 0: nobody waits for delivery */
    int64_t route_again_ms;   /* monotonic: what is due of routes_due waits until then */
    int64_t full_ms; /* since when half of the queue is full; 0: it is not */
    bool settings_due;        /* indexes may lack settings of their definitions */
    struct err settings_why;  /* the last that was told of them */
    struct peers *peers;
    struct pipeline *retired; /* stopped ones that deliveries in flight may still refer to */

    pthread_mutex_t setting; /* one change at a time, across the store */

    /* Guarded by setting. */
    struct delivery_values *values; /* the settings of delivery, as people write them */

    pthread_mutex_t fitting; /* one version is brought in step at a time, by the builders */

    pthread_mutex_t refreshing; /* one node_refresh at a time; lock is taken inside */

    pthread_mutex_t lock;

    /* All guarded by lock; definitions and catalogue are replaced only under doing, too. */
    struct definitions *definitions;
    struct catalogue *catalogue;
    struct topic *topics;
    struct index_build *builds[BUILDS_MAX];
    size_t n_builds;
    struct finished_build *finished;
    struct held_index *held;
    struct purged_index *purged; /* those in it are the repair thread's (node_purged.c) */
    struct rebuild_try *rebuild_tries; /* changed only under doing, too */
    struct timed_index *timed;         /* read by time */
};

/* Take `doing` for a change; refused once stopping.  Unlock `doing` after it. */
bool node_begin(struct coordinator *co, struct err *err) MUST_CHECK;

/* Errors for whoever asked: code is the HTTP status. */
bool refuse(struct err *err, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Who a topic is among the replicas of its server: a server keeps one of those with the same
 * id, or (MySQL) the same uuid, so two topics of one node differ in both. */
struct replica_identity {
    uint32_t server_id;
    char uuid[37];
};

/* ---- node_state.c ---- */
/* As defined, else as stored; made and stored where it is neither. */
bool node_replica_identity(struct coordinator *co, const struct topic_definition *d,
                           struct replica_identity *out, struct err *err) MUST_CHECK;
bool node_load(struct coordinator *co, struct err *err) MUST_CHECK;
/* Read versions, stops and rebuilds again, after something was stored. */
bool node_refresh(struct coordinator *co, struct err *err) MUST_CHECK;
struct definitions *
node_definitions(struct coordinator *co) RETURNS_NONNULL MUST_CHECK; /* with a reference */
void node_catalogue_free(struct catalogue *c);
/* A deep copy of the catalogue's rows for one alias (empty: all). */
struct catalogue *node_catalogue(struct coordinator *co) RETURNS_NONNULL MUST_CHECK;
const struct stored_version *catalogue_version(const struct catalogue *c, struct str index,
                                               struct str state);
const struct stored_version *catalogue_number(const struct catalogue *c, struct str index,
                                              uint64_t number);
const struct stored_rebuild *catalogue_rebuild(const struct catalogue *c, struct str table);
/* It is written to. */
bool catalogue_is_live(const struct stored_version *v);
const struct stored_stop *catalogue_stop(const struct catalogue *c, struct str table);
void node_log(struct coordinator *co, struct str table, struct str index, uint64_t version,
              const char *event, const char *detail);
void node_log_text(struct coordinator *co, struct str table, struct str index,
                   const char *event, struct str detail); /* of no version */
struct definitions *node_parse_stored(const struct stored_definition *stored, size_t n,
                                      struct err *err) MUST_CHECK;
/* The table's definition has changed since this version was the newest: what a build would
 * change. */
bool node_pending_since(struct coordinator *co, struct str table, uint64_t *version,
                        struct err *err) MUST_CHECK;
/* A time as RFC 3339 in UTC, null for 0. */
void node_put_time(struct json_writer *w, struct str key, int64_t ms);
/* "orders", 2 -> "orders_v2" and "orders_v2_write" */
void node_index_name(struct buf *b, struct str alias, uint64_t number);
void node_write_alias(struct buf *b, struct str alias, uint64_t number);
/* "orders_v2" -> "orders", 2; alias is borrowed from it. */
bool node_split_index_name(const char *index, struct str *alias, uint64_t *number) MUST_CHECK;

/* The table of an argument: DATABASE.TABLE, a pattern, or an index alias, whose lead it is; 404
 * with the nearest name. */
const struct table_definition *node_find_table(const struct definitions *d, struct str name,
                                               struct err *err) MUST_CHECK;

/* ---- node_topics.c ---- */
/* Topics as the definitions want them: start, restart, stop. */
void node_sync_topics(struct coordinator *co);
struct topic *node_topic(struct coordinator *co, struct str name); /* under lock or doing */
void node_stop_topic(struct coordinator *co, struct topic *t);
void node_free_topics(struct coordinator *co);
/* An epoch of the topic above all that it, or any index of it, ever had; stored as taken. */
bool node_new_epoch(struct coordinator *co, struct str topic, uint64_t *epoch,
                    struct err *err) MUST_CHECK;

/* ---- node_routes.c ---- */
/*
 * Tell the topic's pipeline the versions it writes to; from, if not NULL, is its position then.
 * Where one of them cannot be followed now (a password file that is gone, a store that is away), it
 * goes on with those that it has, and all are tried again.
 */
bool node_route(struct coordinator *co, struct str name, int64_t timeout_ms, uint64_t *from,
                struct err *err) MUST_CHECK;
/* ... in which a topic takes it that a version is gone. */
#define ROUTE_AWAY_MS 20000
/* Those of the other topics that the version shows tables of: before its first row is read (design
 * part 7, rule 8). */
bool node_route_guests(struct coordinator *co, const struct stored_version *v, int64_t timeout_ms,
                       struct err *err) MUST_CHECK;
/* Both, for a version that is to be built.  What was asked for earlier and is there by now is
 * enough: asked for anew each time, it would never be there where that takes longer than
 * timeout_ms. */
bool node_route_build(struct coordinator *co, const struct stored_version *v, int64_t timeout_ms,
                      uint64_t *from, struct err *err) MUST_CHECK;
/* Documents of the lead's index are of tables of the topic, or show some. */
bool node_shows_topic(const struct definitions *d, const struct table_definition *lead,
                      struct str topic);
/* Where routes_due: all topics, soon.  Under doing. */
void node_route_again(struct coordinator *co);
/* Held indexes of versions that nothing is written to any more let go of their changes. */
void node_forget_gone(struct coordinator *co);
/* Old deletes go, but while a version is built, or waits for that: it repeats them.  Under doing. */
void node_drop_tombstones(struct coordinator *co);

/* ---- node_delivery.c: what delivery asks, on its thread ---- */
struct delivery_options node_delivery_options(struct coordinator *co);

/* ---- node_delivery_set.c ---- */
/* What is configured, with what was set at run time before the start. */
bool node_load_delivery_values(struct coordinator *co, struct err *err) MUST_CHECK;
/* A list of all of them, as people write them. */
void node_put_delivery_settings(struct coordinator *co, struct json_writer *w);
bool node_delivery_settings(struct coordinator *co, struct delivery_settings *out,
                            struct err *err) MUST_CHECK;
/* All of them, or none; also where there are as many as should be: a builder waits for nobody to
 * look at them.  @thread any */
bool node_keep_dead_letters(struct coordinator *co, const struct dead_letter_note *notes,
                            size_t n, struct err *err) MUST_CHECK;
/* Under lock, or alone. */
void node_drop_held(struct coordinator *co, const char *index);

/* ---- node_purged.c ---- */
struct purged_note;
/* All of them, or none; as options.purged of delivery.  @thread delivery's */
bool node_put_purged(void *ctx, const struct purged_note *notes, size_t n,
                     struct err *err) MUST_CHECK;
bool node_load_purged(struct coordinator *co, struct err *err) MUST_CHECK; /* at the start */
void node_start_repairs(struct coordinator *co);
void node_join_repairs(struct coordinator *co);
void node_free_purged(struct coordinator *co);
/* "purged": what is still to be written again, by index. */
void node_append_purged(struct coordinator *co, struct json_writer *w);

/* ---- node_search.c ---- */

/* "search": who the engine is, how it is, and which of its addresses are up.  Asks it. */
void node_append_search(struct coordinator *co, struct json_writer *w);

/* ---- node_told.c: what the pipelines tell, on their threads ---- */
/* They block until it is stored; false: the program ends before it is. */
bool node_on_dead_row(void *ctx, const struct dead_letter_note *note);
bool node_on_stop_table(void *ctx, struct target *target, const char *reason,
                        const char *way_out);
bool node_on_mark(void *ctx, const struct target *target, const char *reason);

/* ---- node_reset.c ---- */
/* The topic begins anew at the server's present position when it is started next; its n tables
 * stop. */
bool node_reset_topic(struct coordinator *co, const struct definitions *d, struct str topic,
                      const char *reason, uint64_t *n, struct err *err) MUST_CHECK;

/* ---- node_gap.c ---- */
/* Topics that a gap of the log stopped begin anew, where their definitions let them. */
void node_close_gaps(struct coordinator *co);

/* ---- node_failover.c ---- */
/* Topics whose server is another one by now go on with it, in a new epoch. */
void node_follow_moved(struct coordinator *co);

/* ---- node_settings.c ---- */
/*
 * Where settings_due: bring changed settings of the definitions to the indexes that searches use,
 * as far as these take them while they are open.  What fails is a warning in problems (or, NULL,
 * in the log); it stays due when it may work later.
 */
void node_sync_settings(struct coordinator *co, struct problems *problems);

/* ---- node_fields.c ---- */
/*
 * Where a definition of now differs from that of the version, `then`, by what adds to its mapping
 * alone, the index gets it.  ERR_RETRY: later.  What the engine refuses waits for a build.
 */
bool node_bring_fields(struct coordinator *co, const struct stored_version *v,
                       const struct definitions *then, const struct definitions *now,
                       const struct table_definition *t, struct err *err) MUST_CHECK;

/* ---- node_replica.c ---- */
/* A server that a database has of its own, for reads: it can be asked, and has GTIDs.  Blocks. */
void node_check_replica(struct coordinator *co, const struct topic_definition *topic,
                        const struct database_definition *db, struct problems *problems);

/* ---- node_sharing.c ---- */
struct asked;
struct check_servers;
/* Check the table, or those that its pattern names, against the server.  Blocks. */
void node_check_tables(const struct check_servers *servers, struct asked *asked,
                       const struct definitions *d, const struct table_definition *t,
                       struct problems *problems);
/* Whether documents of the tables that share the lead's index can be made, and their fields fit
 * together.  Blocks. */
void node_check_sharing(struct coordinator *co, const struct definitions *d,
                        const struct table_definition *lead, struct asked *asked,
                        struct problems *problems);

/* ---- node_dead.c ---- */
struct doctor_list;
/* Where the oldest is old (dead_letters.old_after). */
void node_warn_of_dead_letters(struct coordinator *co);
void node_check_dead_letters(struct coordinator *co, struct doctor_list *l);
/* The index takes now what it may have refused: its dead letters are replayed, soon, and if the
 * program dies before, by the next one. */
bool node_want_replay(struct coordinator *co, struct str index, struct err *err) MUST_CHECK;
/* Those that are wanted.  Blocks; not under doing.  @thread the one that repairs */
void node_replay_wanted(struct coordinator *co);

/* ---- node_shards.c ---- */
/*
 * The routings that lead to each of the version's shards, with spaces between, where its documents
 * are found by their parents; NULL where they are not.  The search engine is asked once, then they
 * are stored.  *shards is the caller's.  ERR_REJECT: the index is gone, and they are not known.
 * Blocks.
 */
bool node_shards(struct coordinator *co, const struct stored_version *v,
                 const struct definitions *d, const struct table_definition *lead, char **shards,
                 struct err *err) MUST_CHECK;

/* ---- node_alias.c ---- */
/* What is held because its write alias was moved goes on when that is back.  Blocks; under doing. */
void node_look_at_aliases(struct coordinator *co);

/* ---- node_areas.c ---- */
/* Warn where `refresh: area` of the table has no effect, and why.  Blocks. */
void node_review_areas(struct coordinator *co, const struct definitions *d,
                       const struct table_definition *t, struct asked *asked,
                       struct problems *problems);
/* Whether the search engine runs the scripts that areas need.  Blocks. */
void node_check_scripts(struct coordinator *co, const struct definitions *d,
                        struct doctor_list *l);

/* ---- node_status.c ---- */
/* The lag eats up half of what the server keeps of its log. */
bool node_lag_threatens(const struct pipeline_status *s);
/* An XA transaction was prepared so long ago that somebody may have forgotten it: text names it
 * and the ways out. */
bool node_prepared_long(const struct pipeline_status *s, char *text, size_t cap);

/* ---- node_definition.c ---- */
/* The version's definitions, as it was built. */
bool node_version_definitions(struct coordinator *co, const struct stored_version *v,
                              struct definitions **out, const struct table_definition **lead,
                              struct err *err) MUST_CHECK;
/* What a version of the lead's index keeps: the canonical JSON of its table, or of all tables that
 * are joined in it as a list; `instead`, if not NULL, stands for the one of its name. */
void node_append_version_json(const struct definitions *d, const struct table_definition *lead,
                              const struct table_definition *instead, struct buf *json);
/* The definitions of now, but of tables only those of such a text. */
struct definitions *node_with_tables(const struct definitions *now, struct str json,
                                     const struct table_definition **lead,
                                     struct err *err) MUST_CHECK;
/* What a version keeps, with every column named, so that later columns of the database do not
 * come in. */
bool node_expand_tables(const struct definitions *d, const struct table_definition *lead,
                        plan_schema_fn find, list_tables_fn list, void *ctx, struct buf *json,
                        struct err *err) MUST_CHECK;

/* ---- node_shape.c ---- */
/* Changes of its tables' shapes are followed; a table that is not defined is not. */
bool node_follows(struct coordinator *co, struct str table);
/* What its tables look like is kept with a version that is made of them now. */
bool node_keep_shapes(struct coordinator *co, const struct stored_version *v,
                      const struct definitions *d, const struct table_definition *lead,
                      plan_schema_fn find, list_tables_fn list, void *ctx,
                      struct err *err) MUST_CHECK;
/* As node_version_definitions(), but where changes of shape are not followed, only with the
 * columns that its tables had. */
bool node_version_in_effect(struct coordinator *co, const struct stored_version *v,
                            struct definitions **d, const struct table_definition **t,
                            struct err *err) MUST_CHECK;
/*
 * A version_fit_fn, ctx: the coordinator.  New columns come into the mapping; where rows changed,
 * that the table is to be built again is durable when it returns.
 */
bool node_fit_version(void *ctx, const struct version_spec *spec, const struct tables_now *now,
                      struct err *err) MUST_CHECK;

/* A version_kept_fn, ctx: the coordinator. */
bool node_kept_tables(void *ctx, const struct version_spec *spec, struct schema_list *tables,
                      struct err *err) MUST_CHECK;

/* ---- node_abroad.c ---- */
/* Why changed documents of the table's index wait, where another topic that has tables of them is
 * away, or a right to read them is missing; appended.  Under lock or doing. */
void node_append_unread(const struct coordinator *co, const struct definitions *d,
                        const struct table_definition *t, struct str index, struct buf *reason);
/* Tables whose documents wait so, and fill the queue, stop, so that the others go on; they are built
 * again by themselves.  Under doing. */
void node_relieve_away(struct coordinator *co);

/* ---- node_rebuild.c ---- */
/* Tables that are to be built again, and may be by themselves, begin.  Under doing. */
void node_rebuild_tables(struct coordinator *co);
/* Somebody took its build away: not so soon again.  Under doing. */
void node_delay_rebuild(struct coordinator *co, struct str table);
/* A build of it ended without an index. */
void node_note_build_failed(struct coordinator *co, struct str table, const struct err *why);
/* What could not begin may have its table again; any thread. */
void node_on_tables_changed(void *ctx);
/* What happens, or is to be done, to a table that is to be built again.  Under lock. */
void node_append_rebuild_fix(const struct coordinator *co, const struct catalogue *c,
                             const struct table_definition *t, struct buf *b);
void node_free_rebuilds(struct coordinator *co);

/* ---- node_sync.c ---- */
/* The thread that reads tables by time; it ends by the node's stop. */
void node_start_syncs(struct coordinator *co);
void node_join_syncs(struct coordinator *co);
void node_free_timed(struct coordinator *co);
/* Why the sync of the index waits, empty where it does not; under lock, borrowed. */
struct str node_sync_reason(const struct coordinator *co, struct str index);
/* The member "sync" of a table in the status: null where the version is not read by time.  Under
 * lock. */
void node_append_sync(const struct coordinator *co, struct json_writer *w,
                      const struct table_definition *t, struct str index);

/* ---- node_version_create.c ---- */
/* A new version of the table's index: its number, the index in the engine, and the job that
 * fills it. */
bool node_create_version(struct coordinator *co, const struct definitions *d,
                         const struct table_definition *t,
                         const struct index_create_options *opt, uint64_t *job,
                         struct err *err) MUST_CHECK;

/* The lineage that an index keeps in its mapping's _meta: topic, log identity and epoch. */
void node_put_lineage(struct json_writer *w, const struct stored_version *v, uint64_t epoch,
                      const char *identity);

/* ---- node_version_drop.c ---- */
/* A version that was being built goes: job, record, index; searches use what they used. */
bool node_drop_version(struct coordinator *co, const struct stored_version *v,
                       struct err *err) MUST_CHECK;
/* Under doing: the index of a version whose drop did not come to its end, as the program was
 * killed or the engine away, goes.  Now and then; may block. */
void node_end_drops(struct coordinator *co);
/* The index goes, with its dead letters; what fails is logged. */
bool node_drop_in_engine(struct coordinator *co, struct str alias, uint64_t number,
                         struct err *err) MUST_CHECK;
/* The dead letters of the versions before this one. */
void node_forget_older_letters(struct coordinator *co, const struct stored_version *v);
/* At the start: what a build leaves behind that was killed right after its version was promoted. */
void node_end_promoted(struct coordinator *co);

/* ---- node_build.c ---- */
/* NULL: none runs; number 0: any of this alias.  Under lock or doing. */
struct index_build *node_find_build(struct coordinator *co, struct str alias, uint64_t number);
/* NULL: the engine takes its changes. */
const struct held_index *node_find_held(const struct coordinator *co, struct str index);
/* "fan_out": what of its related rows is not in all documents yet; under the lock. */
void node_append_fan_out(struct coordinator *co, struct json_writer *w,
                         const struct stored_version *v);
/* As jobs; those of an id, index or table, empty: all. */
bool node_list_fan_outs(struct coordinator *co, struct str name, struct json_writer *w,
                        size_t *n_listed, struct err *err) MUST_CHECK;
/* Builds whose version is changing and that do not run. */
void node_resume_builds(struct coordinator *co);
void node_finish_builds(struct coordinator *co);
void node_stop_builds(struct coordinator *co);
/* Ask all of them to stop, without waiting. */
void node_hush_builds(struct coordinator *co);
/* Those of a pipeline that goes end here; node_resume_builds goes on with the next one. */
void node_pause_builds(struct coordinator *co, const struct pipeline *p);
/* The version's build ends, if it runs, and what it built goes; not dropped: it was over before
 * it could be stopped, and searches use it, or it has gone. */
bool node_drop_build(struct coordinator *co, const struct stored_version *v, bool *dropped,
                     struct err *err) MUST_CHECK;
/* All of a topic's. */
bool node_drop_builds(struct coordinator *co, struct str topic, struct err *err) MUST_CHECK;

/* ---- node_table_stop.c ---- */
bool node_stop_table(struct coordinator *co, struct str table, const char *reason,
                     const char *way_out, struct err *err) MUST_CHECK;
/* The name under which what belongs to the target's index is kept, appended. */
void node_lead_name(struct coordinator *co, const struct target *target, struct buf *name);
struct node_stop {
    const char *reason;
    const char *way_out;
    bool again; /* it is to be built again by itself, where its definition lets it */
};
/* What is written to cannot go on: the table stops, or the build whose version it is fails; where
 * another version has taken its place, nothing.  All of it, or nothing, is stored. */
bool node_stop_target(struct coordinator *co, const struct target *target,
                      const struct node_stop *stop, struct err *err) MUST_CHECK;

/* ---- node_marks.c ---- */
/* Documents of the target's index may be stale until it is built anew; durable. */
bool node_mark_index(struct coordinator *co, const struct target *target, const char *reason,
                     struct err *err) MUST_CHECK;
/* Why the version that searches use is to be verified, appended; nothing: it is not. */
void node_mark_of(struct coordinator *co, const struct catalogue *c, struct str alias,
                  struct buf *reason);

#endif
