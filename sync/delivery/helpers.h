/*
 * struct helpers: counts the requests in flight and decides whether one more may go.
 *
 * There may be as many as helpers.  An overdue request lends its helper to others, up to twice
 * the number of helpers in all, so nobody waits for an index that hangs.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_HELPERS_H
#define SYNC_DELIVERY_HELPERS_H

#include "src/base/base.h"
#include "src/config/settings.h"
#include "sync/delivery/index/index_queue.h"

#include <stdbool.h>

struct helpers {
    const struct delivery_settings *settings; /* borrowed */
    unsigned n_requests;                      /* in flight */
    unsigned n_overdue;                       /* of these: not answered for long */
};

/* Tell whether a helper and a connection are free. */
bool helpers_are_free(const struct helpers *h);
/*
 * Tell whether a free helper may send to o.  An index with requests in flight leaves some
 * helpers to the others, all the more while it does not answer.  is_alone: there are no others.
 */
bool helpers_may_send_to(const struct helpers *h, const struct index_queue *o, bool is_alone);

#endif
