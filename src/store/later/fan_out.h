/*
 * Fan-out jobs: rereads of documents, queued because a changed row leads to too many of them to
 * reread at once.
 *
 * A job says: take every document of this index version that leads, at this place of its plan,
 * to rows with this key, and read it again, with a read that includes this position in the log
 * of `source`.  The job finds these documents when it runs.  Documents that led to the row only
 * before the change have events of their own.
 *
 * Waiting jobs of one place begin together, as a run.  The run reads their documents once for
 * all of them, in the order of the root's key, and its cursor says how far it has come.  If a
 * key is asked for again during its run, the next run does it once more.
 *
 * The owner of `source` may put jobs for any topic.  Only the owner of `topic`, the topic of
 * the root's table, works them off, because only that owner writes documents.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_LATER_FAN_OUT_H
#define SRC_STORE_LATER_FAN_OUT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct stored_fan_out {
    uint64_t id;        /* assigned by the store */
    struct str topic;   /* its owner works the job off */
    struct str index;   /* alias */
    uint64_t version;   /* index version number */
    struct str member;  /* the table these documents come from: "shop.orders" */
    uint32_t place;     /* in the table's plan */
    unsigned by;        /* how `key` names rows (sync/document/resolver.h) */
    struct str table;   /* the table at that place, for people: "shop.product" */
    struct str key;     /* bytes (sync/document/key.h) */
    struct str source;  /* the topic whose log has the change; may equal `topic` */
    uint64_t at_least;  /* reads must include this position of that log (a version) */
    uint64_t again;     /* at_least for the next run, requested during this one; 0: none */
    uint64_t run;       /* 0: the job waits; else the run it belongs to */
    struct str cursor;  /* the run continues after this root key (bytes); empty: at the start */
    uint64_t documents; /* acknowledged in this run */
    int64_t created_ms, updated_ms;
    bool is_repeat; /* it has run, and runs once more from created_ms on */
};

/*
 * Store n jobs, all of the same `source`.  Ignores their id, again, run, cursor, documents,
 * updated_ms and is_repeat.  If a job with the same key exists and already covers the position,
 * it stays unchanged; otherwise a waiting job gets the higher at_least and waits no longer than
 * this one would, and a running one is asked to run again.  Leaves out jobs of versions that
 * are no longer being built, waiting or searched.  term: of the source's owner; ERR_STOP if
 * that is no longer the owner.
 */
bool store_put_fan_outs(struct store *s, uint64_t term, const struct stored_fan_out *jobs,
                        size_t n, struct err *err) MUST_CHECK;

/*
 * Load the first `limit` jobs of one member of a version: running ones by run, then waiting
 * ones, then those that are to run once more after now_ms; each group by id.
 */
bool store_load_fan_outs(struct store *s, struct arena *a, struct str index, uint64_t version,
                         struct str member, int64_t now_ms, size_t limit,
                         struct stored_fan_out **out, size_t *n, struct err *err) MUST_CHECK;

/* The owner of the topic; ERR_STOP if the term is no longer the latest. */
struct fan_out_owner {
    struct str topic;
    uint64_t term;
};

/*
 * Begin the run first->id.  All waiting jobs that share version, member, place, `by` and source
 * with `first`, with an id up to `last` and an at_least up to `at_least`, and are due at
 * now_ms, join it.  The run starts at the beginning.
 */
bool store_begin_fan_outs(struct store *s, const struct fan_out_owner *owner,
                          const struct stored_fan_out *first, uint64_t last, uint64_t at_least,
                          int64_t now_ms, struct err *err) MUST_CHECK;
/*
 * Save the run's progress: everything up to the cursor is acknowledged, `documents` documents
 * in all.
 */
bool store_save_fan_outs(struct store *s, const struct fan_out_owner *owner, uint64_t run,
                         struct str cursor, uint64_t documents, int64_t now_ms,
                         struct err *err) MUST_CHECK;
/*
 * End the run and delete its jobs; or, unless once_more_ms is 0, keep them until that time, to
 * run once more.  Jobs that were asked to run again stay in any case, and count as new.
 */
bool store_end_fan_outs(struct store *s, const struct fan_out_owner *owner, uint64_t run,
                        int64_t once_more_ms, int64_t now_ms, struct err *err) MUST_CHECK;

/*
 * Pending work, summed up: one row per run, and one for all waiting jobs of a place.  Without
 * jobs that are to run once more after now_ms: their documents have been read.
 */
struct fan_out_sum {
    struct str topic, index, table, source;
    uint64_t version, run; /* run 0: the jobs wait */
    uint64_t first_id;
    uint64_t jobs, documents;
    struct str cursor;
    int64_t created_ms, updated_ms; /* created: the oldest; updated: the newest */
};
bool store_sum_fan_outs(struct store *s, struct arena *a, int64_t now_ms,
                        struct fan_out_sum **out, size_t *n, struct err *err) MUST_CHECK;

#endif
