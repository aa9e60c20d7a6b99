#include "config.h"

#include "sync/delivery/helpers.h"

#define HELPERS_TO_SPARE 4 /* with this many or more, keep one for an index that has none */

static unsigned busy(const struct helpers *h)
{
    const unsigned lent =
        h->n_overdue < h->settings->helpers ? h->n_overdue : h->settings->helpers;

    return h->n_requests - lent;
}

bool helpers_are_free(const struct helpers *h)
{
    return busy(h) < h->settings->helpers && h->n_requests < h->settings->connections;
}

bool helpers_may_send_to(const struct helpers *h, const struct index_queue *o, bool is_alone)
{
    const struct index_queue_level level = index_queue_level(o);
    const unsigned n_left = h->settings->helpers - busy(h);

    if (level.requests == 0 || is_alone)
        return true;
    if (level.overdue > 0 && level.requests >= (h->settings->helpers + 1) / 2)
        return false;
    return n_left > 1 || h->settings->helpers < HELPERS_TO_SPARE;
}
