/*
 * The replay of a day: everything that changed on it is read and written once more.
 *
 * Whatever made documents differ from their rows, a replay of the day on which the rows changed
 * last makes them equal: each is read afresh and written at an ordinary version of a change of
 * another source (ADR 21), and deleted if its row is gone.  It is a stored job of the owner of
 * the topic, which reads that day's part of the log once more, beside the stream.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_REPLAY_REPLAY_H
#define REBALANCE_REPLAY_REPLAY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct coordinator;
struct day_replays;

#define REPLAY_RATE 1000 /* documents a second, if nobody says otherwise */

struct replay_order {
    struct str table;
    struct str day; /* "2026-11-26"; empty: yesterday, in the topic's zone */
    bool has_rate;
    uint64_t rate; /* documents a second; 0: no limit; without has_rate: REPLAY_RATE */
    bool dry_run;  /* only say whether it may begin; the answer has no job */
};

/*
 * Store the job that replays the day for the index of the table, and answer its id.  ERR_RETRY
 * if a replay of its topic is not over.  Blocks on the store.
 */
bool coordinator_replay_day(struct coordinator *co, const struct replay_order *o,
                            struct buf *json, struct err *err) MUST_CHECK;

/* The thread that works the jobs off, one after the other. */
struct day_replays *day_replays_new(void) RETURNS_NONNULL MUST_CHECK;
void day_replays_free(struct day_replays *all); /* NULL is fine; after it was joined */
void coordinator_start_day_replays(struct coordinator *co);
void coordinator_join_day_replays(struct coordinator *co); /* after co->stop was set */

#endif
