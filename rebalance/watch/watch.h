/*
 * Decides when to ask a server that may hang again, and whether it is away.
 *
 * Threads ask for what people look at and keep the answers (rebalance/watch/engine_watch.h,
 * rebalance/watch/store_watch.h): soon while somebody looks, now and then while nobody does.
 *
 * Pure. @thread one at a time
 */
#ifndef REBALANCE_WATCH_WATCH_H
#define REBALANCE_WATCH_WATCH_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct watch {
    const char *who;  /* "the search engine"; a literal */
    bool is_wanted;   /* somebody has looked since the last round began */
    int64_t began_ms; /* monotonic: start of the last round; 0: none yet */
    int64_t ended_ms;
    int64_t asked_ms; /* monotonic: when the pending question was sent; 0: none is pending */
    int64_t heard_ms; /* wall time of the last answer; 0: never */
    struct err why;   /* why the last question failed; ERR_NONE: it did not */
};

/* What is known about the server now. */
struct heard {
    int64_t at_ms; /* wall time of the last answer; 0: never */
    bool is_away;
    bool is_silent; /* away because a question has no answer yet */
    struct err why; /* why, if is_away */
};

/*
 * In how many ms the next round is due; 0: now. While somebody looks, rounds take at most a
 * fifth of the time, and a server that is away is asked again after five seconds at most.
 */
int64_t watch_due_in_ms(const struct watch *w, int64_t now_ms);
void watch_begin(struct watch *w, int64_t now_ms); /* a round begins */
void watch_end(struct watch *w, int64_t now_ms);
void watch_ask(struct watch *w, int64_t now_ms);
/*
 * Record how the question ended. Pass ERR_NONE for any answer, even one with an HTTP error
 * status.
 */
void watch_answer(struct watch *w, int64_t wall_ms, const struct err *why);

struct heard watch_heard(const struct watch *w, int64_t now_ms);

#endif
