/*
 * struct queue_watch: since when delivery's queue is half full, and since when somebody waits
 * to hand over changes, to the precision of our looks.
 *
 * Pure: the caller passes figures and time.  Monotonic times in milliseconds; 0: it is not so.
 *
 * @thread one at a time
 */
#ifndef REBALANCE_STATE_QUEUE_WATCH_H
#define REBALANCE_STATE_QUEUE_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct queue_watch {
    int64_t blocked_since_ms, full_since_ms;
};

static inline void queue_watch_look(struct queue_watch *w, size_t n_blocked, size_t bytes,
                                    size_t bytes_max, int64_t now_ms)
{
    if (n_blocked == 0)
        w->blocked_since_ms = 0;
    else if (w->blocked_since_ms == 0)
        w->blocked_since_ms = now_ms;
    if (bytes < bytes_max / 2)
        w->full_since_ms = 0;
    else if (w->full_since_ms == 0)
        w->full_since_ms = now_ms;
}

#endif
