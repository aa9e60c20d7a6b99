/*
 * Snapshots: changes of delayed tables that wait for a run.
 *
 *     put ──► init ──take──► running ──end──► done ──a week──► gone
 *              └────────────mark────────────────┘
 *
 * One for each (table, operation, row, day, status); a later change of the day overwrites.
 * Each has leads: what its row led to, and leads to, in the documents of an index version.
 * They become fan-out jobs (src/store/later/fan_out.h), or parts that any node takes, when the
 * run comes to the snapshot.
 * Unlike the rest, leads are not overwritten: a row that moved twice has left two places.
 *
 * The owner of the topic whose log has the change puts, takes and ends them.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_LATER_SNAPSHOT_H
#define SRC_STORE_LATER_SNAPSHOT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/later/fan_out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;
struct stored_job;

#define SNAPSHOT_RUNNING "running"

#define SNAPSHOT_ID_MAX 512 /* bytes of a row's key as text */

struct stored_snapshot {
    uint64_t id;       /* assigned by the store */
    struct str topic;  /* whose log has the change */
    struct str table;  /* "shop.label" */
    struct str op;     /* insert, update, delete; WHOLE_TABLE_OP (whole_table.h) */
    struct str row_id; /* the row's key, as text */
    struct str day;    /* "2026-11-27", UTC */
    struct str status;
    uint64_t run;        /* that took it; 0: none */
    uint64_t version;    /* of the last change, in its topic's log */
    struct str row_json; /* the row as it was, of a delete; of a whole table, why; else empty */
    int64_t created_ms, updated_ms;
};

struct snapshot_row {
    struct str op, row_id, row_json; /* as in struct stored_snapshot */
    bool was;                        /* what leads is the row as it was before */
};
/* A change of a row, with one thing that it leads to. */
struct snapshot_change {
    struct snapshot_row row;
    struct stored_fan_out lead; /* as for store_put_fan_outs() */
};
/* Of one table, of the topic whose owner calls. */
struct snapshot_owner {
    struct str topic;
    uint64_t term;
};
/* Store n changes of the table.  ERR_STOP: the topic has another owner. */
struct snapshot_put {
    struct snapshot_owner owner;
    struct str table;
    int64_t now_ms; /* wall time; says the day */
};
bool store_put_snapshots(struct store *s, const struct snapshot_put *put,
                         const struct snapshot_change *changes, size_t n,
                         struct err *err) MUST_CHECK;

struct snapshot_filter {
    struct str topic, table, op, status, day, row_id; /* empty: any */
    uint64_t run;                                     /* 0: any */
    uint64_t id, after_id;                            /* 0: any, from the first */
    size_t limit;
};
bool store_load_snapshots(struct store *s, struct arena *a, const struct snapshot_filter *f,
                          struct stored_snapshot **out, size_t *n, struct err *err) MUST_CHECK;

/* How many of each table are not done. */
struct snapshot_count {
    struct str topic, table;
    uint64_t n_waiting, n_running;
    int64_t oldest_ms; /* of those that wait; 0: none waits */
};
bool store_count_snapshots(struct store *s, struct arena *a, struct snapshot_count **out,
                           size_t *n, struct err *err) MUST_CHECK;

/* ---- a run ---- */

/* At most one of a topic. */
struct snapshot_run {
    uint64_t id; /* assigned by the store */
    struct str topic;
    struct str table; /* whose snapshots it took; empty: all of the topic */
    uint64_t one;     /* the only snapshot, which stays as it is; 0: those it took */
    uint64_t up_to;   /* only for the beginning: it takes none with a higher id */
    uint64_t from_id; /* only for store_release_snapshots(): after_id before */
    /* What is put as jobs: all up to this snapshot ... */
    uint64_t after_id;
    /* ... and of the page after it this many top relations, and of the next one the keys up to
     * this one. */
    uint64_t level;
    struct str level_after;
    uint64_t n_all, n_done; /* snapshots */
    uint64_t builds;        /* enum run_builds (whole_table.h) ... */
    uint64_t builds_after;  /* ... and the last build that was logged when it asked */
    int64_t created_ms, updated_ms;
};
/*
 * What waits of the table (empty: of any), at the most: the highest id, and the version of the
 * newest change; 0: none waits.
 */
bool store_newest_snapshot(struct store *s, struct str topic, struct str table, uint64_t *id,
                           uint64_t *version, struct err *err) MUST_CHECK;
/*
 * Begin a run: it takes what waits of its table.  Sets id, n_all and the times.  *busy: the
 * topic has another run, which *run then is.  Nothing to take: the run is begun all the same.
 * ERR_REJECT, HTTP status 404: there is no snapshot `one` of the topic.
 */
bool store_begin_snapshot_run(struct store *s, struct arena *a,
                              const struct snapshot_owner *owner, int64_t now_ms,
                              struct snapshot_run *run, bool *busy, struct err *err) MUST_CHECK;
/* Those of all topics, or of one. */
bool store_load_snapshot_runs(struct store *s, struct arena *a, struct str topic,
                              struct snapshot_run **out, size_t *n, struct err *err) MUST_CHECK;

struct snapshot_lead {
    uint64_t snapshot;
    bool was;
    struct stored_fan_out job; /* without source and table */
};
/* The leads of the snapshots from first to last, in order of the snapshots. */
bool store_load_leads(struct store *s, struct arena *a, uint64_t first, uint64_t last,
                      struct snapshot_lead **out, size_t *n, struct err *err) MUST_CHECK;
/* What a page of a run becomes. */
struct snapshot_release {
    const struct stored_fan_out *jobs; /* for the owners of the documents' topics */
    size_t n_jobs;
    struct stored_job *parts; /* JOB_PART, for any node; their numbers and ids are set */
    size_t n_parts;
};
/*
 * Put jobs and parts, and save where the run then is.  If that is behind more snapshots, their
 * leads are forgotten, unless they stay as they are, or are of whole tables.  ERR_STOP: the run
 * has ended, or the topic has another owner.
 */
bool store_release_snapshots(struct store *s, const struct snapshot_owner *owner,
                             const struct snapshot_run *at, const struct snapshot_release *what,
                             struct err *err) MUST_CHECK;
/*
 * Fan-out jobs for changes of the table (empty: of any that has snapshots) in this topic's log
 * that are not done.
 */
bool store_count_released(struct store *s, struct str topic, struct str table, int64_t now_ms,
                          uint64_t *n, struct err *err) MUST_CHECK;
/* Forget a part of the owner's run, and its term. */
bool store_forget_part(struct store *s, const struct snapshot_owner *owner, uint64_t job,
                       struct err *err) MUST_CHECK;
/*
 * All that the run took is done, and so is the run; its parts are forgotten.  But whole tables
 * that an index still shows as they were wait again.
 */
bool store_end_snapshot_run(struct store *s, const struct snapshot_owner *owner, uint64_t run,
                            int64_t now_ms, struct err *err) MUST_CHECK;

/* A person says that one is done: *found false if it does not wait. */
bool store_mark_snapshot(struct store *s, struct str topic, uint64_t id, int64_t now_ms,
                         bool dry_run, bool *found, struct err *err) MUST_CHECK;
/* Forget those that were done before this time. */
bool store_prune_snapshots(struct store *s, int64_t before_ms, struct err *err) MUST_CHECK;

/* ---- what shows them ---- */

/*
 * A place in the documents of a version where snapshots wait; or a whole table (whole_table.h),
 * which then is the member.
 */
struct snapshot_place {
    struct str member;
    uint32_t place;
};
bool store_load_snapshot_places(struct store *s, struct arena *a, struct str index,
                                uint64_t version, struct snapshot_place **out, size_t *n,
                                struct err *err) MUST_CHECK;

#endif
