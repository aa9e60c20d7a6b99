/*
 * What the files of struct outlet share.  Nobody else includes this; outlet.h is for all others.
 *
 * outlet_make    what it is and knows of itself, its settings
 * outlet_queues  where its documents wait, and which of them may be purged
 * outlet_purge   the oldest of those
 * outlet_next    what goes next, and when
 */
#ifndef SYNC_DELIVERY_OUTLET_PARTS_H
#define SYNC_DELIVERY_OUTLET_PARTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/list.h"
#include "sync/delivery/outlet.h"

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

struct lane {
    struct link ready;
    size_t n, bytes;
    int64_t since_ms; /* about when the first of them came */
    uint64_t batch;   /* serial of the one in flight, 0: none */
    size_t n_may_go[N_SHARES]; /* the worker's, wherever they wait, that may be purged */
};

/* A batch that is already made up; one of lost documents grows while it waits. */
struct parcel {
    struct link link;
    struct bisect *bisect;
    bool is_lost;
    size_t n, cap;
    size_t bytes; /* of all that were put in, as they were then */
    struct document **docs;
};

struct parking {
    struct link link;
    struct link docs;
    int64_t due_ms;
};

struct outlet {
    char *index;
    struct outlet_options opt;
    struct target *target;
    struct buf path; /* of requests to it */
    struct index_metric *metric;
    struct lane *lanes;
    unsigned next_lane;
    unsigned withheld; /* a lane, or OUTLET_ALL or OUTLET_NONE */
    unsigned next_to_purge; /* lane */
    size_t n_may_go[N_SHARES];
    unsigned n_lost_requests; /* in flight */
    bool lost_went; /* the last request was of lost documents */
    uint64_t last_serial;
    struct link loads;
    struct link parcels;
    struct link parkings;
    struct outlet_level level;
    struct gate gate;
    struct pace pace;
    bool is_gone, is_told;
    struct outlet_purged purged;
    struct outlet_partly partly;
    int64_t no_areas_until_ms;
};

static inline struct lane *lane_of(const struct outlet *o, const struct document *doc)
{
    return &o->lanes[doc->hash % o->opt.workers];
}

/* Empty lanes; the caller frees them. */
struct lane *outlet_new_lanes(unsigned n) RETURNS_NONNULL MUST_CHECK;
/* What waits moves to so many lanes. */
void outlet_move_to_lanes(struct outlet *o, unsigned workers);
void outlet_free_parcel(struct parcel *p);
/* So many go together at most. */
size_t outlet_documents_max(const struct outlet *o);
/* Whether doc, which waits, may be purged. */
void outlet_set_may_go(struct outlet *o, struct document *doc, bool may_go);

#endif
