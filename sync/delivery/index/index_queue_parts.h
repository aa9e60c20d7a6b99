/*
 * Shared by the files of struct index_queue only; everybody else includes index_queue.h.
 *
 * index_queue_make    creation, settings, properties
 * index_queue_lanes   where its documents wait, and which may be purged
 * index_queue_purge   finds the oldest of those
 * index_queue_next    what goes next, and when
 */
#ifndef SYNC_DELIVERY_INDEX_INDEX_QUEUE_PARTS_H
#define SYNC_DELIVERY_INDEX_INDEX_QUEUE_PARTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/list.h"
#include "sync/delivery/index/index_queue.h"
#include "sync/delivery/index/lines.h"
#include "sync/delivery/index/seldom.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum place {
    PLACE_NONE = 0,
    PLACE_LANE,
    PLACE_LOADS,
    PLACE_PARKED,
    PLACE_PARCEL,
};

/* What waits in a line of a lane, or of several. */
struct waiting {
    size_t n, bytes;
    int64_t since_ms; /* about when the first came */
};

struct lane {
    struct lines ready;
    struct waiting of[N_LINES];
    uint64_t batch;            /* serial of the batch in flight; 0: none */
    size_t n_may_go[N_SHARES]; /* purgeable documents of the worker, wherever they wait */
};

/* A batch made up in advance.  One of lost documents grows while it waits. */
struct parcel {
    struct link link;
    struct bisect *bisect;
    bool is_lost;
    size_t n, cap;
    size_t bytes; /* of all documents put in, at their size then */
    struct document **docs;
};

struct parking {
    struct link link;
    struct link docs;
    int64_t due_ms;
};

struct index_queue {
    char *index;
    struct index_queue_options opt;
    struct target *target;
    struct buf path; /* of bulk requests */
    struct index_metric *metric;
    struct allowance *allowance;
    struct lane *lanes;
    unsigned next_lane;
    unsigned withheld;      /* a lane, INDEX_QUEUE_ALL or INDEX_QUEUE_NONE */
    unsigned next_to_purge; /* lane to purge next */
    size_t n_may_go[N_SHARES];
    size_t n_large[N_SHARES];    /* of these: large ones */
    unsigned n_lost_requests;    /* in flight */
    unsigned n_stream_requests;  /* in flight, with documents of the stream */
    const struct guests *guests; /* NULL: jobs have no limits of their own */
    bool lost_went;              /* the last request had lost documents */
    uint64_t last_serial;
    struct lines loads;
    struct link parcels;
    struct link parkings;
    struct index_queue_level level;
    struct gate gate;
    struct pace pace;
    bool is_gone;
    enum cure told;
    struct index_queue_purged purged;
    struct index_queue_partly partly;
    struct seldom request_lines, read_lines;
    int64_t no_areas_until_ms;
};

static inline struct lane *lane_of(const struct index_queue *o, const struct document *doc)
{
    return &o->lanes[doc->hash % o->opt.workers];
}

/* Return n empty lanes, which the caller frees. */
struct lane *index_queue_new_lanes(unsigned n) RETURNS_NONNULL MUST_CHECK;
/* Move waiting documents to a new number of lanes. */
void index_queue_move_to_lanes(struct index_queue *o, unsigned workers);
void index_queue_free_parcel(struct parcel *p);
/* The most documents in a batch. */
size_t index_queue_documents_max(const struct index_queue *o);
/* Set whether doc, which waits, may be purged. */
void index_queue_set_may_go(struct index_queue *o, struct document *doc, bool may_go);

#endif
