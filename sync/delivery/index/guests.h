/*
 * struct guests: how much of what jobs write may be in flight at a time, over all indexes.
 *
 * A job (a build, a fan-out, a replay, a repair) writes very many documents, and nobody waits
 * for one of them.  An engine has one queue for all writes, so what jobs have in flight there
 * is what the writes of others wait for: those of the stream, and those of other programs.
 *
 * So jobs are guests.  How much longer an answer takes than from an engine that has nothing of
 * theirs to do is what others wait.  While that is more than GUESTS_EXTRA_MS, the bytes in
 * flight (the window) shrink; while it is less, they grow, as in LEDBAT (RFC 6817).  An engine
 * with many processors answers as soon with more in flight: there the window becomes as wide
 * as the settings allow.  To know the engine without them, guests let all that is in flight
 * end every GUESTS_LOOK_MS, and send one small request alone: the median of the last three is
 * what an answer takes, so that a pause of the engine does not count for long.
 *
 * That holds if guests are polite.  Greedy ones have no limit here, nor have those that are
 * alone (sync/delivery/index/neighbours.h).
 *
 * Pure: the caller passes the time.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_INDEX_GUESTS_H
#define SYNC_DELIVERY_INDEX_GUESTS_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUESTS_EXTRA_MS 6
#define GUESTS_LOOK_MS  10000
#define GUESTS_LOOKS    3

struct guests_options {
    bool polite;
    unsigned requests_max; /* in flight; > 0 */
    size_t bytes_max;      /* of one request; > 0 */
};

enum guests_look {
    GUESTS_LOOK_NONE = 0,
    GUESTS_LOOK_DUE, /* the next request is small, and goes when none is in flight */
    GUESTS_LOOKING,  /* it is in flight */
};

struct guests {
    struct guests_options opt;
    bool alone;     /* nobody else writes */
    bool unwinding; /* what they sent while they were alone is still in flight */
    unsigned n;     /* requests in flight */
    size_t window;
    enum guests_look look;
    int64_t looked_ms;
    int64_t looks_us[GUESTS_LOOKS]; /* answers to the last ones */
    unsigned n_looks;               /* answered so far */
};

void guests_init(struct guests *g, const struct guests_options *opt);
/* Change the options of one in use. */
void guests_set(struct guests *g, const struct guests_options *opt);

/* Say whether they are alone.  When others come, polite guests look at the engine anew. */
void guests_set_alone(struct guests *g, bool alone);

/* Call when a turn begins. */
void guests_turn(struct guests *g, int64_t now_ms);

/* Tell whether one more request with documents of jobs may go, and with how many bytes. */
bool guests_may_go(const struct guests *g);
size_t guests_bytes(const struct guests *g);

void guests_begin(struct guests *g);
/* The engine took a request of theirs, which is still counted, after this time. */
void guests_answered(struct guests *g, size_t bytes, int64_t us);
/* It had no room for one, or did not answer. */
void guests_busy(struct guests *g);
/* A request ended, however. */
void guests_end(struct guests *g);

#endif
