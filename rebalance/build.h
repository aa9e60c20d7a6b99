/*
 * What the files of an index build share: its state, and the steps of its life.  Nobody else
 * includes this; index_build.h is for all others.
 *
 * build.c       begins and ends it, waits, reads, publishes
 * build_fill    rows by chunks into the new version, with a cursor
 * build_deletes what was deleted meanwhile, once more
 * build_count   rows against documents, at one position
 *
 * @thread the build's own, but for what lock guards
 */
#ifndef REBALANCE_BUILD_H
#define REBALANCE_BUILD_H

#include "rebalance/index_build.h"
#include "rebalance/job.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/thread.h"
#include "src/mysql.h"
#include "src/store.h"
#include "sync/read_links.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_POLL_MS   20
#define BUILD_CHUNK_MAX 5000 /* rows a statement */
#define BUILD_VIEW_MS   10000

struct chunk_note; /* build_fill.c */
struct target;

struct index_build {
    struct index_build_options opt;
    char *alias, *index, *final_settings;
    struct stop stop;
    pthread_t thread;
    bool started;

    /* The thread's own. */
    struct mysql_conn *conn; /* to the server that is followed: rows are counted there; it is
                              * set under lock */
    struct read_links links; /* by which they are read */
    char **tables;           /* of the index, in the order in which they are read */
    size_t n_tables, at_table;
    struct buf after;    /* key of the last row that was read of the table */
    size_t chunk, asked; /* rows of a statement: what suits it, what the limit allows */
    struct chunk_note *open_first, **open_last;
    size_t n_open;
    struct job_limit limit;
    int64_t saved_ms;
    bool end; /* the last row was read */

    pthread_mutex_t lock;

    /* All guarded by lock. */
    struct arena *arena; /* the job's texts */
    struct stored_job job;
    struct buf cursor;
    struct job_pace pace;
    uint64_t rate_limit, dead;
    const char *phase;
    struct err why;
};

/* The phase as status shows it, and what it waits for; why may be NULL. */
void build_set_phase(struct index_build *b, const char *phase, const struct err *why);
bool build_is_stopping(struct index_build *b, struct err *err); /* ERR_STOP */
/* Trouble that passes is waited for; false: it ends the build, err says why. */
bool build_survive(struct index_build *b, struct err *err);
/* The job with its cursor, into the store; unless always, only where the last time is long ago.
 */
bool build_save(struct index_build *b, bool always, struct err *err);
/* The version's target of a table (empty: any), one more reference; NULL: err says whether that
 * passes. */
struct target *build_target(struct index_build *b, struct str table,
                            struct err *err) MUST_CHECK;
/* Those of all its tables, as pipeline_targets(); n 0: err says whether that passes. */
struct target **build_targets(struct index_build *b, size_t *n,
                              struct err *err) RETURNS_NONNULL MUST_CHECK;
void build_targets_free(struct target **list, size_t n);
/* The rows of all its tables that count, as the open read shows them. */
bool build_count_tables(struct index_build *b, uint64_t *rows, struct err *err) MUST_CHECK;
/* A snapshot on the build's connection; see read_view.h, which has the end of it. */
bool build_open_read(struct index_build *b, uint64_t at_least, struct err *err);
/* Whatever was read of the log up to there must be in the new version. */
bool build_catch_up(struct index_build *b, uint64_t to, struct err *err);

bool build_fill(struct index_build *b, struct err *err);
void build_forget_chunks(struct index_build *b);
bool build_repeat_deletes(struct index_build *b, struct err *err);
bool build_count_rows(struct index_build *b, struct err *err);

#endif
