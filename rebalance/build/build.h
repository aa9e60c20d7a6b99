/*
 * What the files of an index build share: its state and the steps of its life. No other file
 * includes this; use index_build.h instead.
 *
 *   build.c    begins and ends the build
 *   step.c     its phase, its waits, its stored state: what every step uses
 *   reads.c    opens reads, finds the version's targets
 *   divide.c   divides its rows into buckets, and waits until all are filled
 *   deletes.c  repeats the deletes that came meanwhile
 *   searches.c repeats the searches for what foreign keys changed meanwhile
 *   count.c    compares the number of rows and documents at one position
 *   publish.c  moves the alias, or parks the version
 *
 * @thread the build's own, except for what lock guards
 */
#ifndef REBALANCE_BUILD_BUILD_H
#define REBALANCE_BUILD_BUILD_H

#include "rebalance/build/index_build.h"
#include "rebalance/fill/growth.h"
#include "rebalance/fill/job.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/thread.h"
#include "src/mysql/mysql.h"
#include "src/store/store.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_POLL_MS 20
#define BUILD_VIEW_MS 10000

struct index_build {
    enum magic magic;
    struct index_build_options opt;
    char *alias, *index, *final_settings, *bucket_column, *node;
    struct stop stop;
    pthread_t thread;
    bool started;

    /* The thread's own. */
    struct mysql_conn *conn; /* to the server whose log we read; set under lock */
    uint64_t seen;           /* of the nudges of its stop token */
    bool resumed;            /* an earlier run filled a part of it */
    bool shared;             /* another node fills a part of it, or has */
    bool complete;           /* filled and counted by an earlier run; only publishing is left */
    uint64_t rows;           /* rows of its tables */
    int64_t lost_ms;    /* when a node was lost that filled a part, in wall time; 0: none */
    struct buf differs; /* why the version should wait; else empty */

    struct lock lock; /* LOCK_build_lock */

    /* All guarded by lock. */
    struct arena *arena; /* holds the job's texts */
    struct stored_job job;
    struct job_pace pace;
    struct job_growth growth;
    bool counted; /* its tables, by this run */
    bool slow;    /* it reads no faster than they grow */
    uint64_t rate_limit, dead;
    const char *phase;
    const char *step; /* the usual step that it waits for, or NULL */
    struct err why;
};

/* Set the phase that status shows, and why the build waits; why may be NULL. */
void build_set_phase(struct index_build *b, const char *phase, const struct err *why);
bool build_is_stopping(struct index_build *b, struct err *err); /* err: ERR_STOP */
/* Returns false if the build is stopping, or its version was stopped. */
bool build_may_go_on(struct index_build *b, struct err *err) MUST_CHECK;
/* Wait a moment.  Returns false if the build is stopping, or its version was stopped. */
bool build_wait(struct index_build *b, struct err *err) MUST_CHECK;
/* Wait a while if err is temporary. Returns false if err ends the build; err says why. */
bool build_survive(struct index_build *b, struct err *err);
/* Store the job. */
bool build_save(struct index_build *b, struct err *err);
/* Get the current end of the log, as a version. Needs the open connection. */
bool build_log_end(struct index_build *b, uint64_t *version, struct err *err) MUST_CHECK;
/* Block until the new version has every change of the log up to `to`. */
bool build_catch_up(struct index_build *b, uint64_t to, struct err *err);

/* Divide the rows into buckets, unless that is done, and block until all are filled. */
bool build_fill(struct index_build *b, struct err *err);
bool build_repeat_deletes(struct index_build *b, struct err *err);
/* Block until what other nodes read before foreign keys changed it has been read again. */
bool build_repeat_searches(struct index_build *b, struct err *err);
bool build_count_rows(struct index_build *b, struct err *err);
/* Move the alias to the version, or park it (src/store/waiting.h). */
bool build_publish(struct index_build *b, struct err *err);

#endif
