/*
 * struct index_queue: one index that delivery writes to: what waits for it, what may go, and
 * when.
 *
 * Ready documents wait in lanes, one per worker (worker = hash mod workers), in order of
 * arrival.  Those that jobs wait for have a share of each lane, and of the reads
 * (sync/delivery/index/lines.h), as far as guests have one (guests.h).  One batch of a lane is
 * in flight at a time.  A request takes the batches of several lanes, up to half of them, so
 * under load requests are large and two or more still run at a time.  The first change of an
 * idle index goes at once.  While requests are in flight, the next one waits until it is large
 * enough; the stream does not wait for requests of jobs alone.
 *
 * The gate decides whether a request may go (sync/delivery/index/gate.h).
 *
 * Pure: the caller passes the time; random numbers come from a seed.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_INDEX_INDEX_QUEUE_H
#define SYNC_DELIVERY_INDEX_INDEX_QUEUE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/bulk/bisect.h"
#include "sync/delivery/bulk/cure.h"
#include "sync/delivery/document/document.h"
#include "sync/delivery/index/gate.h"
#include "sync/delivery/index/lines.h"
#include "sync/delivery/index/pace.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct allowance;
struct guests;
struct index_metric;
struct index_queue;
struct seldom;

struct index_queue_options {
    unsigned workers;   /* lanes; > 0 */
    unsigned width_max; /* concurrent requests; > 0 */
    unsigned batch_min; /* documents in a batch, unless flush_ms has passed; > 0 */
    unsigned batch_max; /* documents in a batch; 0: no limit but the bytes */
    size_t batch_bytes; /* ceiling of the limiter */
    int64_t flush_ms;
    unsigned job_share; /* percent that go to jobs (sync/delivery/index/lines.h); < 100 */
    struct fuse_options fuse;
};

/* The documents of one request, each IN_FLIGHT. */
struct batch {
    struct document **docs; /* index_queue_end_batch() frees it */
    size_t n, cap;
    size_t bytes;          /* estimate of the body */
    uint64_t serial;       /* identifies it to its lanes */
    struct bisect *bisect; /* may be NULL */
    bool probe;            /* of a held index; not set for a blown fuse */
    size_t n_lost;         /* documents of the batch that were lost before */
    size_t n_jobs;         /* documents of the batch that jobs wait for */
    size_t job_bytes;      /* of these */
    bool has_stream;       /* others */
};

struct index_queue *index_queue_new(struct str index, const struct index_queue_options *opt,
                                    uint64_t seed) RETURNS_NONNULL MUST_CHECK;
/*
 * Change the options.  If the number of workers changes, waiting documents move to the new
 * lanes in order; batches in flight end as they are.
 */
void index_queue_set_options(struct index_queue *o, const struct index_queue_options *opt);
/*
 * Until the next call, send nothing that waits in this lane (hash modulo workers).
 * INDEX_QUEUE_ALL: send and read nothing.  INDEX_QUEUE_NONE: send everything.
 */
#define INDEX_QUEUE_ALL  UINT_MAX
#define INDEX_QUEUE_NONE (UINT_MAX - 1)
void index_queue_withhold(struct index_queue *o, unsigned lane);
void index_queue_free(
    struct index_queue *o); /* the table owns its documents; NULL is allowed */
struct str index_queue_index(const struct index_queue *o);
/*
 * Set the latest target, which the index queue references.  index_queue_path() is the path of
 * its bulk requests.
 */
void index_queue_set_target(struct index_queue *o, struct target *t);
struct target *index_queue_target(const struct index_queue *o);
struct str index_queue_path(const struct index_queue *o);
struct gate *index_queue_gate(struct index_queue *o);
struct pace *index_queue_pace(struct index_queue *o);
/* The owner's counters, borrowed. */
void index_queue_set_metric(struct index_queue *o, struct index_metric *metric);
struct index_metric *index_queue_metric(const struct index_queue *o);
/* The owner's account of the bytes that the index may hold, borrowed. */
void index_queue_set_allowance(struct index_queue *o, struct allowance *allowance);
struct allowance *index_queue_allowance(const struct index_queue *o);
/* The limits of jobs, over all indexes; borrowed.  NULL, as at first: none. */
void index_queue_set_guests(struct index_queue *o, const struct guests *guests);
enum hold index_queue_held(const struct index_queue *o);
/* What the owner reported last: why the index takes nothing, or not all (CURE_SHARDS). */
void index_queue_set_told(struct index_queue *o, enum cure told);
enum cure index_queue_told(const struct index_queue *o);
bool index_queue_is_told(const struct index_queue *o);
/* The owner's record of purged documents. */
struct index_queue_purged {
    uint64_t n;      /* not reported yet */
    int64_t told_ms; /* when the last ones were reported */
};
struct index_queue_purged *index_queue_purged(struct index_queue *o);
/* The owner's record of documents that are lost while others go through. */
struct index_queue_partly {
    int64_t since_ms; /* 0: none */
    int64_t last_ms;  /* when one of them last waited */
    struct err why;
};
struct index_queue_partly *index_queue_partly(struct index_queue *o);
/* The owner's record of log lines: of requests that failed, and of reads. */
struct seldom *index_queue_request_lines(struct index_queue *o);
struct seldom *index_queue_read_lines(struct index_queue *o);
/* The index is gone for good: forget whatever is placed here. */
void index_queue_drop(struct index_queue *o);
bool index_queue_is_gone(const struct index_queue *o);
/* Do not write its areas alone until until_ms. */
void index_queue_refuse_areas(struct index_queue *o, int64_t until_ms);
bool index_queue_takes_areas(const struct index_queue *o, int64_t now_ms);

/* Put doc (LOAD_WAIT, READY or UNKNOWN) at the end of its queue, wherever it is now. */
void index_queue_place(struct index_queue *o, struct document *doc, int64_t now_ms);
/* Put it at the front: it was taken and comes back. */
void index_queue_place_first(struct index_queue *o, struct document *doc, int64_t now_ms);
/*
 * Call when its write was replaced or joined in place: its size, or who waits for it, may
 * differ.
 */
void index_queue_resize(struct index_queue *o, struct document *doc);
/* Remove doc from its queue. */
void index_queue_remove(struct index_queue *o, struct document *doc);

/*
 * index_queue_purgeable(): how many documents of a worker may be purged (INDEX_QUEUE_ANY: of
 * all). index_queue_take_oldest(): take out about the oldest of them, or return NULL.
 * SHARE_LOST: consider lost documents only.
 */
#define INDEX_QUEUE_ANY UINT_MAX
enum index_queue_share { SHARE_ALL = 0, SHARE_LOST };
#define N_SHARES 2
size_t index_queue_purgeable(const struct index_queue *o, enum index_queue_share share,
                             unsigned worker);
struct document *index_queue_take_oldest(struct index_queue *o, enum index_queue_share share,
                                         unsigned worker);
/*
 * Take out a purgeable document that is large (sync/delivery/document/budget.h), or return
 * NULL.
 */
struct document *index_queue_take_large(struct index_queue *o, enum index_queue_share share);

/*
 * Documents parked together wait apart until due_ms.  Then those to be sent go in a batch of
 * their own, so that a red shard does not hold up the others; those to be read go to the front
 * of the reads.  UNKNOWN documents are lost: each got an answer of its own that says nothing
 * about it.  They go with other lost ones, one request at a time, in turn with the lanes.
 * While only a probe may go, they wait for everything that is ready or must be read.
 */
struct parking;
struct parking *index_queue_open_parking(struct index_queue *o, int64_t due_ms) RETURNS_NONNULL;
void index_queue_park(struct index_queue *o, struct parking *p, struct document *doc);
/* Bring back parked documents that are due.  Call before asking for what goes next. */
void index_queue_turn(struct index_queue *o, int64_t now_ms);

/*
 * Take the next batch, if one may go.  It is empty if all documents of a part of a bisection
 * were forgotten.
 */
bool index_queue_next_batch(struct index_queue *o, int64_t now_ms, bool draining,
                            struct batch *out);
/* Tell whether documents of the line wait in a lane that may go, and may go themselves. */
bool index_queue_has_line(const struct index_queue *o, enum line line);
/* Only the first n documents of the batch are sent; the others have ended. */
void index_queue_shrink_batch(struct index_queue *o, struct batch *b, size_t n);
/*
 * The batch was answered or given up: free its lanes.  Every document of it must have been
 * placed, parked, split or ended, or be kept in bisect.
 */
void index_queue_end_batch(struct index_queue *o, struct batch *b);

/*
 * Send the documents [from, to) of b, READY or UNKNOWN again, next, as a batch of their own.
 * bisect (may be NULL): as a part of it.
 */
void index_queue_split(struct index_queue *o, const struct batch *b, size_t from, size_t to,
                       struct bisect *bisect);

/* Return the parts of bisect that were not sent to their lanes.  One part must be in flight. */
void index_queue_unsplit(struct index_queue *o, struct bisect *bisect, int64_t now_ms);

/*
 * Return when documents may be read.  An index that takes nothing needs no reads, unless only
 * lost documents are left to try it with: then a few, when it is due to be tried.
 */
int64_t index_queue_reads_at(const struct index_queue *o);
/*
 * Take up to max documents to read, all of one target, and all whole or all the same area.
 * Returns how many.
 */
size_t index_queue_next_load(struct index_queue *o, size_t max, struct document **docs);
/* So many of them were read or given up, and were placed, parked or ended. */
void index_queue_end_load(struct index_queue *o, size_t n);
/* Return the target of the first document to read, borrowed, or NULL. */
const struct target *index_queue_load_target(const struct index_queue *o);

/*
 * Return the milliseconds, at most max_ms, until something parked is due or, if can_send, until
 * a request may go that may not go now.
 */
int64_t index_queue_wait_ms(const struct index_queue *o, int64_t now_ms, bool can_send,
                            int64_t max_ms);

struct index_queue_level {
    size_t ready, load_wait, loading, parked; /* documents */
    size_t in_flight;                         /* documents */
    size_t lost;                              /* of all these: documents that are lost */
    unsigned requests;                        /* in flight */
    unsigned overdue;                         /* of these, as counted by the owner */
};
/* Add n (1 or -1) to the overdue requests. */
void index_queue_count_overdue(struct index_queue *o, int n);
struct index_queue_level index_queue_level(const struct index_queue *o);

#endif
