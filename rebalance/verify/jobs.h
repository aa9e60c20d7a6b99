/*
 * struct verify_jobs: the verifications of whole indexes that run on this node, each on its own
 * thread.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_VERIFY_JOBS_H
#define REBALANCE_VERIFY_JOBS_H

#include "rebalance/verify/compared.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coordinator;
struct stop;
struct verify_job;
struct verify_jobs;
struct verify_progress;

#define VERIFY_JOBS_MAX 4 /* that people have asked for */
struct verify_jobs *verify_jobs_new(void) RETURNS_NONNULL MUST_CHECK;
void verify_jobs_free(struct verify_jobs *all); /* NULL is fine; after they were joined */

/* Start the job's thread, which calls run, and take the job over. Waits for threads of jobs
 * that are over. Returns false if it runs, or VERIFY_JOBS_MAX of people and it is one of them;
 * the job is the caller's then. */
bool verify_jobs_start(struct verify_jobs *all, struct verify_job *j,
                       void *(*run)(void *job)) MUST_CHECK;
/* Whether any has not ended yet. */
bool verify_jobs_any(struct verify_jobs *all);
/* Once the coordinator's stop is set: end reads, which may take hours, and the threads. */
void verify_jobs_interrupt(struct verify_jobs *all);
void verify_jobs_join(struct verify_jobs *all); /* blocks */
/* Copy what the job shows of itself. False: it does not run here. */
bool verify_jobs_find(struct verify_jobs *all, uint64_t id, struct verify_progress *out);

/* What nobody asked for of the index (orders_v2) did not start, or ended without a verdict: the
 * next one comes ms later. */
void verify_jobs_put_off(struct verify_jobs *all, struct str index, int64_t ms);
/* An hour, or every_ms if that is less; 0: never by itself. */
int64_t verify_jobs_again_ms(int64_t every_ms);
bool verify_jobs_are_put_off(struct verify_jobs *all, struct str index);
/* A comparison of all of it has ended as it should, or begun trees, which ends that (why NULL);
 * or the index can have no trees. */
void verify_jobs_note_whole(struct verify_jobs *all, struct str index, const struct err *why);
/* One has ended early. */
void verify_jobs_note_ended(struct verify_jobs *all, struct str index, const struct err *why);

/* An exchange of the index's trees has ended: exchanges_note(). */
void verify_jobs_note_exchange(struct verify_jobs *all, struct str index,
                               const struct verify_result *found, uint64_t lost,
                               const struct err *why);
void verify_jobs_exchanges(struct verify_jobs *all, struct str index, struct exchanges *out);
/* A check or an exchange of the index has repaired this. */
void verify_jobs_note_repairs(struct verify_jobs *all, struct str index, enum repairer by,
                              const struct verify_result *found);
struct repair_counts verify_jobs_repairs(struct verify_jobs *all, struct str index);

/* A person may start one of this index (orders_v2), as for the jobs of people. Else ERR_RETRY.
 */
bool verify_jobs_may_start(struct verify_jobs *all, struct str index,
                           struct err *err) MUST_CHECK;
/* From here until verify_jobs_ordered() nothing starts by itself. */
void verify_jobs_order(struct verify_jobs *all);
void verify_jobs_ordered(struct verify_jobs *all);
bool verify_jobs_are_ordered(struct verify_jobs *all);
/* What compares the index by itself ends. Waits up to 20 s; false: it still runs. */
bool verify_jobs_make_way(struct verify_jobs *all, struct str index,
                          struct stop *stop) MUST_CHECK;

size_t verify_jobs_count_refreshes(struct verify_jobs *all, struct str index); /* that run */
/* Refreshes of the index end. Waits up to 20 s; *left: so many still run. Returns their number.
 */
size_t verify_jobs_cancel(struct verify_jobs *all, struct str index, struct stop *stop,
                          size_t *left) MUST_CHECK;

bool verify_jobs_run(struct verify_jobs *all, const char *kind); /* one of this kind, here */
bool verify_jobs_run_for(struct verify_jobs *all, struct str index); /* of orders_v2 */
bool verify_jobs_have_kind(struct str kind); /* whether jobs of the kind are verifications */
/* For the job's thread: what people see, and its end. */
void verify_jobs_show(struct verify_jobs *all, struct verify_job *j,
                      const struct verify_progress *seen);
void verify_jobs_end(struct verify_jobs *all, struct verify_job *j);
bool verify_jobs_take_ended(struct verify_jobs *all); /* one has, since the last call */

/* Go on with the jobs that the store has of our topics, unless they all run. Under admin_lock.
 * Blocks on the store. */
void coordinator_resume_verifies(struct coordinator *co);

#endif
