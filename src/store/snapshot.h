/*
 * Snapshots: changes of delayed tables that wait for a run.
 *
 *     put ──► init ──take──► running ──end──► done ──a week──► gone
 *              └────────────mark────────────────┘
 *
 * One for each (table, operation, row, day, status); a later change of the day overwrites.
 * Each has leads: what its row led to, and leads to, in the documents of an index version.
 * They become fan-out jobs (src/store/fan_out.h) when the run comes to the snapshot.  Unlike
 * the rest, leads are not overwritten: a row that moved twice has left two places.
 *
 * The owner of the topic whose log has the change puts, takes and ends them.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_SNAPSHOT_H
#define SRC_STORE_SNAPSHOT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/fan_out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

#define SNAPSHOT_INIT    "init"
#define SNAPSHOT_RUNNING "running"
#define SNAPSHOT_DONE    "done"

#define SNAPSHOT_ID_MAX 512 /* bytes of a row's key as text */

struct stored_snapshot {
    uint64_t id;       /* assigned by the store */
    struct str topic;  /* whose log has the change */
    struct str table;  /* "shop.label" */
    struct str op;     /* insert, update, delete, table */
    struct str row_id; /* the row's key, as text; empty: the whole table */
    struct str day;    /* "2026-11-27", UTC */
    struct str status;
    uint64_t run;        /* the job that took it; 0: none */
    struct str row_json; /* the row as it was, of a delete; else empty */
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

/* How many there are of each table and status. */
struct snapshot_count {
    struct str topic, table, status;
    uint64_t n;
    int64_t oldest_ms;
};
bool store_count_snapshots(struct store *s, struct arena *a, struct snapshot_count **out,
                           size_t *n, struct err *err) MUST_CHECK;

/* ---- a run ---- */

/* The run (a job's id) takes what waits of the table; empty: of all of the topic. */
bool store_take_snapshots(struct store *s, const struct snapshot_owner *owner, struct str table,
                          uint64_t run, int64_t now_ms, struct err *err) MUST_CHECK;

struct snapshot_lead {
    uint64_t snapshot;
    bool was;
    struct stored_fan_out job; /* without source and table */
};
/* The leads of the snapshots from first to last, in order of the snapshots. */
bool store_load_leads(struct store *s, struct arena *a, uint64_t first, uint64_t last,
                      struct snapshot_lead **out, size_t *n, struct err *err) MUST_CHECK;
/*
 * Put the jobs of a page of a run, and forget the leads of its snapshots from first to last;
 * run 0: keep them.
 */
struct snapshot_page {
    uint64_t run, first, last;
};
bool store_release_snapshots(struct store *s, const struct snapshot_owner *owner,
                             const struct snapshot_page *page,
                             const struct stored_fan_out *jobs, size_t n,
                             struct err *err) MUST_CHECK;
/* Fan-out jobs for changes of the table (empty: of any) in this topic's log that are not done.
 */
bool store_count_released(struct store *s, struct str topic, struct str table, int64_t now_ms,
                          uint64_t *n, struct err *err) MUST_CHECK;
/* All that the run took is done. */
bool store_end_snapshots(struct store *s, const struct snapshot_owner *owner, uint64_t run,
                         int64_t now_ms, struct err *err) MUST_CHECK;

/* A person says that one is done: *found false if it does not wait. */
bool store_mark_snapshot(struct store *s, struct str topic, uint64_t id, int64_t now_ms,
                         bool *found, struct err *err) MUST_CHECK;
/* Forget those that were done before this time. */
bool store_prune_snapshots(struct store *s, int64_t before_ms, struct err *err) MUST_CHECK;

/* ---- what shows them ---- */

/* A place in the documents of a version where snapshots wait. */
struct snapshot_place {
    struct str member;
    uint32_t place;
};
bool store_load_snapshot_places(struct store *s, struct arena *a, struct str index,
                                uint64_t version, struct snapshot_place **out, size_t *n,
                                struct err *err) MUST_CHECK;

#endif
