/*
 * struct index_health: whether indexes take their documents, and the reports of it.
 *
 * Holds an index that refuses and reports it at once; also reports a blown fuse at once.
 * Reports an index that takes nothing, or not all, without refusing, once that has lasted
 * options.failing_ms.  Reports when it is over.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_INDEX_HEALTH_H
#define SYNC_DELIVERY_INDEX_HEALTH_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/delivery/index/index_queue.h"
#include "sync/delivery/index/metric.h"
#include "sync/delivery/index/options.h"

#include <stdint.h>

struct index_health {
    const struct delivery_options *opt; /* borrowed; its callbacks get the reports */
    struct delivery_metric *metric;     /* borrowed */
    int64_t now_ms;                     /* of this turn */
};

/* Hold the index until cure. */
void index_health_hold(struct index_health *s, struct index_queue *o, enum cure cure,
                       const struct err *why);
/* End the hold. */
void index_health_release(struct index_health *s, struct index_queue *o);
/* A person pauses the index, or lets it go on.  Then what else holds it is reported again. */
void index_health_pause(struct index_health *s, struct index_queue *o, const struct err *why);
void index_health_unpause(struct index_health *s, struct index_queue *o);
/* Report a change of the fuse.  why: what blew it. */
void index_health_note_fuse(struct index_health *s, struct index_queue *o,
                            enum fuse_change change, const struct err *why);
/* Check how long the index takes nothing, or not all, and report it. */
void index_health_look(struct index_health *s, struct index_queue *o);
/* The index is no longer ours: nothing but a pause holds it here.  No event. */
void index_health_end_hold(struct index_health *s, struct index_queue *o);
/* The index is gone: take back what was reported. */
void index_health_drop(struct index_health *s, struct index_queue *o);

#endif
