/* Where a topic's day is in its log.  Only the files of rebalance/replay include this. */
#ifndef REBALANCE_REPLAY_SPAN_H
#define REBALANCE_REPLAY_SPAN_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/position/position.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct replay;

struct replay_span {
    struct str topic, zone;
    uint64_t epoch;
    struct position from, to; /* to.file empty: up to the first transaction of the next day */
    int64_t begins_s, ends_s; /* the day */
    const char *gone;         /* why the log does not say what changed; NULL: it does */
};
/* Ask the store. The texts are the arena's. */
bool replay_find_span(struct replay *r, struct str topic, struct arena *a,
                      struct replay_span *out, struct err *err) MUST_CHECK;

#endif
