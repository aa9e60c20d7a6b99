/*
 * struct outlet: one index that is written to: what waits for it, and when how much may go.
 *
 * Documents that are ready wait in lanes, one per worker (worker = hash mod workers), in the
 * order in which they came; one batch of a lane is in flight at a time.  A request takes the
 * batches of several lanes, up to half of them, so that under load requests are large and still
 * two or more go at a time.  The first change of an idle index goes at once; while requests are
 * in flight a further one waits until it is worth the engine's while.
 *
 * An index that can take nothing (rights, blocks, a missing alias ...) is held: nothing goes
 * but, now and then, a probe.  After a failure it is paused, longer each time, and then a
 * single request is tried; after several its fuse is blown, and a small batch is tried much
 * later.
 *
 * Pure: the time is handed in, random numbers come from a seed.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_OUTLET_H
#define SYNC_DELIVERY_OUTLET_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/bisect.h"
#include "sync/delivery/document.h"
#include "sync/delivery/gate.h"
#include "sync/delivery/pace.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_metric;
struct outlet;

struct outlet_options {
    unsigned workers;   /* lanes; > 0 */
    unsigned width_max; /* requests at a time; > 0 */
    unsigned batch_min; /* documents before a batch goes, unless flush_ms has passed; > 0 */
    unsigned batch_max; /* documents; 0: no limit but the bytes */
    size_t batch_bytes; /* the limiter's ceiling */
    int64_t flush_ms;
    struct fuse_options fuse;
};

/* Documents of one request, each IN_FLIGHT. */
struct batch {
    struct document **docs; /* freed by outlet_end_batch() */
    size_t n, cap;
    size_t bytes;          /* about, of the body */
    uint64_t serial;       /* names it to its lanes */
    struct bisect *bisect; /* or NULL */
    bool probe;            /* of a held index, not of a blown fuse */
    size_t n_lost;         /* documents that were lost before */
};

struct outlet *outlet_new(struct str index, const struct outlet_options *opt,
                          uint64_t seed) RETURNS_NONNULL MUST_CHECK;
/*
 * Other options from now on.  With another number of workers what waits moves to the new lanes
 * in its order; batches in flight end as they are.
 */
void outlet_set_options(struct outlet *o, const struct outlet_options *opt);
/* Nothing goes that waits in this lane, of its hash modulo workers, until the next call;
 * OUTLET_ALL: nothing at all, not even a read; OUTLET_NONE: everything goes. */
#define OUTLET_ALL  UINT_MAX
#define OUTLET_NONE (UINT_MAX - 1)
void outlet_withhold(struct outlet *o, unsigned lane);
void outlet_free(struct outlet *o); /* its documents are the table's; NULL is fine */
struct str outlet_index(const struct outlet *o);
/* Its latest target, of which it keeps a reference, and the path of requests to it. */
void outlet_set_target(struct outlet *o, struct target *t);
struct target *outlet_target(const struct outlet *o);
struct str outlet_path(const struct outlet *o);
struct gate *outlet_gate(struct outlet *o);
struct pace *outlet_pace(struct outlet *o);
/* Whoever owns the outlet may keep its counters here. */
void outlet_set_metric(struct outlet *o, struct index_metric *metric);
struct index_metric *outlet_metric(const struct outlet *o);
enum hold outlet_held(const struct outlet *o);
/* Whether its owner has told that it takes nothing. */
void outlet_set_told(struct outlet *o, bool told);
bool outlet_is_told(const struct outlet *o);
/* Documents of it that were purged; its owner's. */
struct outlet_purged {
    uint64_t n;      /* not told of yet */
    int64_t told_ms; /* when others were */
};
struct outlet_purged *outlet_purged(struct outlet *o);
/* Documents of it are lost while others go through; its owner's. */
struct outlet_partly {
    int64_t since_ms; /* 0: they do not */
    int64_t last_ms;  /* when one of them waited last */
    bool is_told;     /* that, and not that it takes nothing */
    struct err why;
};
struct outlet_partly *outlet_partly(struct outlet *o);
/* Its index is gone for good: whatever is placed here is to be forgotten. */
void outlet_drop(struct outlet *o);
bool outlet_is_gone(const struct outlet *o);
/* Until then its areas are not written alone. */
void outlet_refuse_areas(struct outlet *o, int64_t until_ms);
bool outlet_takes_areas(const struct outlet *o, int64_t now_ms);

/* Put doc, LOAD_WAIT, READY or UNKNOWN, at the end of its queue, from wherever it is. */
void outlet_place(struct outlet *o, struct document *doc, int64_t now_ms);
/* At the front: it was taken and comes back. */
void outlet_place_first(struct outlet *o, struct document *doc, int64_t now_ms);
/* Its `now` was replaced where it stands: its size may differ. */
void outlet_resize(struct outlet *o, struct document *doc);
/* Take doc out of its queue. */
void outlet_remove(struct outlet *o, struct document *doc);

/*
 * How many documents of a worker may be purged (OUTLET_ANY: of all), and about the oldest of
 * them, taken out; NULL: there is none.  Of all its documents, or of those that are lost alone.
 */
#define OUTLET_ANY UINT_MAX
enum outlet_share { SHARE_ALL = 0, SHARE_LOST };
#define N_SHARES 2
size_t outlet_purgeable(const struct outlet *o, enum outlet_share share, unsigned worker);
struct document *outlet_take_oldest(struct outlet *o, enum outlet_share share, unsigned worker);

/*
 * Documents parked together wait apart until due_ms and then come back: to be sent in a batch
 * of their own, so that one red shard does not hold up the others, or to the front of the
 * reads.  Those that are UNKNOWN are lost: each had an answer of its own that says nothing of
 * it.  They go with other lost ones, one request at a time, and take turns with what waits in
 * the lanes.  While nothing else goes but a try they wait for all that is ready or to be read.
 */
struct parking;
struct parking *outlet_open_parking(struct outlet *o, int64_t due_ms) RETURNS_NONNULL;
void outlet_park(struct outlet *o, struct parking *p, struct document *doc);
/* Bring back what is due.  Call before asking for what goes next. */
void outlet_turn(struct outlet *o, int64_t now_ms);

/*
 * What goes next, if anything may: *out is a batch of documents, which are taken.  It is empty
 * when all documents of a part of a bisection were forgotten.
 */
bool outlet_next_batch(struct outlet *o, int64_t now_ms, bool draining, struct batch *out);
/* The first n documents of the batch are sent, the others were ended. */
void outlet_shrink_batch(struct outlet *o, struct batch *b, size_t n);
/*
 * The batch was answered or given up; its lanes are free.  Every document of it must have been
 * placed, parked, split or ended, or be kept in bisect.
 */
void outlet_end_batch(struct outlet *o, struct batch *b);

/*
 * Documents from to to of b, READY or UNKNOWN again, are sent next and as a batch of their own,
 * in bisect unless that is NULL.
 */
void outlet_split(struct outlet *o, const struct batch *b, size_t from, size_t to,
                  struct bisect *bisect);

/* The parts of bisect that were not sent go back to their lanes.  One part must be in flight.
 */
void outlet_unsplit(struct outlet *o, struct bisect *bisect, int64_t now_ms);

/*
 * When may documents be read?  An index that takes nothing needs none read, but where it has
 * nothing else to try it with than lost documents: then a few, when it is to be tried.
 */
int64_t outlet_reads_at(const struct outlet *o);
/*
 * Up to max documents of one target that must be read, all whole or all the same area, which
 * are taken; returns how many.
 */
size_t outlet_next_load(struct outlet *o, size_t max, struct document **docs);
/* So many of them are read, or given up, and were placed, parked or ended. */
void outlet_end_load(struct outlet *o, size_t n);
/* Whose document comes first there; borrowed; NULL: nothing is to be read. */
const struct target *outlet_load_target(const struct outlet *o);

/*
 * Milliseconds, at most max_ms, until something that is parked is due or, if can_send, a
 * request may go that cannot go now.
 */
int64_t outlet_wait_ms(const struct outlet *o, int64_t now_ms, bool can_send, int64_t max_ms);

struct outlet_level {
    size_t ready, load_wait, loading, parked; /* documents */
    size_t in_flight;                /* documents */
    size_t lost;                     /* of all of these, documents that were lost */
    unsigned requests;               /* in flight */
    unsigned overdue;                /* of them, as its owner says */
};
/* One more request is overdue, or one of those has ended. */
void outlet_count_overdue(struct outlet *o, int n);
struct outlet_level outlet_level(const struct outlet *o);

#endif
