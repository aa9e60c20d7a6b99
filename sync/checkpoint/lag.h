/*
 * struct lag: how long the oldest undelivered change has been waiting.  Pure.
 *
 * For changes already read, the commit time tells, to the millisecond if the server logs it so.
 * For unread ones only the server's end of log helps.  If the server cannot be asked, the lag
 * is an upper bound: everything before that time is delivered, and perhaps nothing came after
 * it.
 *
 * @thread any
 */
#ifndef SYNC_CHECKPOINT_LAG_H
#define SYNC_CHECKPOINT_LAG_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

#define LAG_NONE    INT64_MAX /* everything is delivered */
#define LAG_UNKNOWN 0

struct lag {
    int64_t since_ms; /* wall time, or one of the two constants */
    bool at_most;     /* an upper bound, see above */
};

/* All times are wall times. */
struct lag_facts {
    int64_t now_ms;
    int64_t
        undone_ms; /* commit of the oldest transaction read and not done; 0 if none is known */
    int64_t done_ms;  /* everything up to then is done; 0 if unknown */
    int64_t asked_ms; /* when the server last reported its log's end; 0 for never */
    uint64_t bytes;   /* of its log after what is done, as of then */
    /* The dump waits at that end and its connection stands: then nothing has come since. */
    bool waits;
    int64_t
        asking_ms; /* when a question was asked that has no answer yet; 0: none is pending */
};

/* For so long a dump that waits is believed: the server is asked again before. */
#define LAG_REST_MS 300000

/* Tell whether the server's report is recent enough to count as current. */
bool lag_is_fresh(const struct lag_facts *f);
struct lag lag_of(const struct lag_facts *f);

/* The older of the two; a known lag outranks an unknown one. */
struct lag lag_worse(struct lag a, struct lag b);
/* Negative if unknown. */
double lag_seconds(struct lag lag, int64_t now_ms);

#endif
