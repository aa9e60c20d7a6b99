/*
 * Fan-out jobs: changed rows that lead to so many documents that these are worked off later.
 *
 * A job says: every document of this index version that leads, at this place of its plan, to
 * rows with this key is to be read again, by a read that includes this position of the log of
 * `source`.  Which documents that are is found when it runs: those that led to the row before
 * and do so no more have events of their own.
 *
 * Jobs of one place that wait begin together, as a run: their documents are read once for all
 * of them, in the order of the root's key, and the cursor says how far that is.  What is asked
 * of a key again while its run goes on is done once more, in the next run.
 *
 * The owner of the source may put jobs for every topic; they are worked off by the owner of
 * `topic`, the one of the root's table, as only that one writes documents.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_FAN_OUT_H
#define SRC_STORE_FAN_OUT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct stored_fan_out {
    uint64_t id;       /* given by the store */
    struct str topic;  /* whose owner works it off */
    struct str index;  /* alias */
    uint64_t version;  /* number of the index version */
    struct str member; /* the table of the index whose documents they are: "shop.orders" */
    uint32_t place;    /* in its plan */
    bool by_row;       /* key is of resolver_row_key(), not of resolver_join_key() */
    struct str table;  /* of that place, "shop.product": for people */
    struct str key;    /* bytes (sync/document/key.h) */
    struct str source; /* the topic whose log has the change; `topic` where it is the same */
    uint64_t at_least; /* position in that log, as a version, that reads must include */
    uint64_t again;    /* asked for while it runs: the next run's at_least; 0: none */
    uint64_t run;      /* 0: it waits; else that of the jobs that began together */
    uint64_t mark;     /* of a run of another source: see store_begin_fan_outs() */
    struct str cursor; /* root key behind which the run goes on, bytes; empty: from the start */
    uint64_t documents; /* acknowledged in this run */
    int64_t created_ms, updated_ms;
};

/*
 * Put n jobs, of which id, again, run, mark, cursor, documents and updated_ms are not looked
 * at. One whose key is there already, and whose position is covered, is left as it is; else
 * that one is raised to it, or asked to run again.  One of a version that is not built or
 * searched any more is left out.  term: of the source's owner; ERR_STOP when it is not the
 * owner now.
 */
bool store_put_fan_outs(struct store *s, uint64_t term, const struct stored_fan_out *jobs,
                        size_t n, struct err *err) MUST_CHECK;

/* The first `limit` of a version's member: those of runs, run by run, then those that wait, each
 * by id. */
bool store_load_fan_outs(struct store *s, struct arena *a, struct str index, uint64_t version,
                         struct str member, size_t limit, struct stored_fan_out **out, size_t *n,
                         struct err *err) MUST_CHECK;

/* Of the topic's owner: term as above. */
struct fan_out_owner {
    struct str topic;
    uint64_t term;
};

/*
 * All jobs that wait of the version, member, place and source of `first`, up to the id `last`,
 * and ask for at_least or less, become
 * the run first->id, at its start.  mark: the version in the topic's own log that its writes
 * carry at least (where the source is another one: above every stamp given out before); after a
 * restart the run waits until the reader has passed it.
 */
bool store_begin_fan_outs(struct store *s, const struct fan_out_owner *owner,
                          const struct stored_fan_out *first, uint64_t last,
                          uint64_t at_least, uint64_t mark,
                          int64_t now_ms, struct err *err) MUST_CHECK;
/* Everything of the run up to the cursor is acknowledged: so many documents. */
bool store_save_fan_outs(struct store *s, const struct fan_out_owner *owner, uint64_t run,
                         struct str cursor, uint64_t documents, int64_t now_ms,
                         struct err *err) MUST_CHECK;
/* The run is over: its jobs are gone, but for those to be run again, which wait and
 * count as new. */
bool store_end_fan_outs(struct store *s, const struct fan_out_owner *owner, uint64_t run,
                        int64_t now_ms, struct err *err) MUST_CHECK;

/* What is to be done, summed up: one row a run, and one for all that wait of one place. */
struct fan_out_sum {
    struct str topic, index, table, source;
    uint64_t version, run; /* run 0: they wait */
    uint64_t first_id;
    uint64_t jobs, documents;
    struct str cursor;
    int64_t created_ms, updated_ms; /* of the oldest; of the newest */
};
bool store_sum_fan_outs(struct store *s, struct arena *a, struct fan_out_sum **out, size_t *n,
                        struct err *err) MUST_CHECK;

/* All of the topic's: its versions stop, and are built again. */
bool store_delete_fan_outs(struct store *s, struct str topic, struct err *err) MUST_CHECK;

#endif
