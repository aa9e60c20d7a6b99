/*
 * struct helpers: how many requests are out, and whether one more may be.
 *
 * As many go at a time as there are helpers.  One that is overdue gives its helper to others,
 * up to as many again: nobody waits for an index that hangs.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_HELPERS_H
#define SYNC_DELIVERY_HELPERS_H

#include "src/base/base.h"
#include "sync/delivery/delivery_options.h"
#include "sync/delivery/outlet.h"

#include <stdbool.h>

struct helpers {
    const struct delivery_options *opt; /* borrowed */
    unsigned n_requests;                /* in flight */
    unsigned n_overdue; /* of these: they are not answered for long */
};

/* A helper and a connection are free. */
bool helpers_are_free(const struct helpers *h);
/*
 * One of the free ones may send to that index.  One that has requests leaves some to the others,
 * all the more while it does not answer.  is_alone: there are no others.
 */
bool helpers_may_send_to(const struct helpers *h, const struct outlet *o, bool is_alone);

#endif
