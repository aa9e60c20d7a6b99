/*
 * struct replay: the replay of one day of one index, as a stored job.  Only the files of
 * rebalance/replay include this; others use rebalance/replay/replay.h.
 *
 *   log.c      the day's part of a topic's log, to keys of documents and of related rows
 *   span.c     where a day is in a log; rows.c: which keys an event's rows have
 *   by_time.c  instead, where that log is gone: rows by their daily_check_column
 *   find.c     related rows to the documents that show them
 *   write.c    documents to delivery, which reads and writes each afresh
 *   state.c    how far it is: stored, shown, noted
 *   job.c      these phases, one after the other, and the report
 *   order.c    what a person orders, and the thread that works the jobs off
 *
 * Every phase goes on from what its keys (keys.h) say, so a failure or a kill repeats little.
 * On a node that lacks the file of keys, the replay begins again: a document that is written
 * twice is what it would be anyway.
 *
 * @thread the replaying thread's
 */
#ifndef REBALANCE_REPLAY_PARTS_H
#define REBALANCE_REPLAY_PARTS_H

#include "rebalance/fill/job.h"
#include "rebalance/replay/keys.h"
#include "rebalance/state/parts.h"
#include "rebalance/verify/run.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum replay_phase {
    REPLAY_LOG = 0, /* of each topic whose rows the documents show */
    REPLAY_BY_TIME,
    REPLAY_FIND,
    REPLAY_WRITE,
    REPLAY_OVER,
    N_REPLAY_PHASES,
};

struct replay {
    struct coordinator *co;
    struct arena *arena; /* owns the texts of job */
    struct stored_job job;
    uint64_t term;
    int64_t day; /* since 1970-01-01 */
    uint64_t rate;
    struct replay_keys *keys;
    enum replay_phase phase;
    struct verify_run run;  /* its version, while a phase runs */
    struct job_limit limit; /* of documents */
    uint64_t documents;     /* found so far, or all */
    uint64_t written;
    int64_t saved_ms; /* monotonic: the job in the store */
    struct buf notes; /* what could not be replayed, each with its fix; "; " between them */
};

/* Store how far it is, and what it waits for (NULL: for nothing), at most once a second unless
 * `always`.  ERR_STOP: the job is another node's now, or was deleted. */
bool replay_show(struct replay *r, const struct err *why, bool always,
                 struct err *err) MUST_CHECK;
/* Make the keys durable, with the notes. */
bool replay_save(struct replay *r, struct err *err) MUST_CHECK;
/* ERR_STOP if the program ends, or the topic is another node's now. */
bool replay_may_go_on(const struct replay *r, struct err *err) MUST_CHECK;
/* Say once, in the report, what was not replayed. */
void replay_note(struct replay *r, const char *fmt, ...) PRINTF_LIKE(2, 3);

static inline const struct plan *replay_plan(const struct target *t)
{
    return ((const struct reading *)t->plan)->plan;
}

/* Wait until the rate allows n documents more; ERR_STOP. */
bool replay_pay(struct replay *r, size_t n, struct err *err) MUST_CHECK;

/* The phases. Each returns true when it is over, and false with err. */
bool replay_read_logs(struct replay *r, struct err *err) MUST_CHECK;
bool replay_by_time(struct replay *r, struct err *err) MUST_CHECK;
bool replay_find(struct replay *r, struct err *err) MUST_CHECK;
bool replay_write(struct replay *r, struct err *err) MUST_CHECK;

#endif
