/*
 * struct standing: whether indexes take what they are sent, and who is told of it.
 *
 * An index that says no is held, and told of at once; so is one whose fuse blows.  One that
 * takes nothing without saying so, or not all, is told of when that has lasted
 * options.failing_ms.  What was told is taken back when it is over.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_STANDING_H
#define SYNC_DELIVERY_STANDING_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/delivery/delivery_metric.h"
#include "sync/delivery/delivery_options.h"
#include "sync/delivery/outlet.h"

#include <stdint.h>

struct standing {
    const struct delivery_options *opt; /* borrowed: who is told */
    struct delivery_metric *metric;     /* borrowed */
    int64_t now_ms;                     /* of this turn */
};

/* Hold it. */
void standing_hold(struct standing *s, struct outlet *o, enum hold how, const struct err *why);
/* It is held no more. */
void standing_release(struct standing *s, struct outlet *o);
/* Its write alias leads to it again. */
void standing_end_astray(struct standing *s, struct outlet *o);
/* Its fuse has changed, or not; why it blew. */
void standing_note_fuse(struct standing *s, struct outlet *o, enum fuse_change change,
                        const struct err *why);
/* How long does it take nothing, or not all? */
void standing_look(struct standing *s, struct outlet *o);
/* It is gone: nothing that was told of it holds. */
void standing_drop(struct standing *s, struct outlet *o);

#endif
