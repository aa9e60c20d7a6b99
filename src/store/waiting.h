/*
 * Index versions that are complete but wait: the stream writes to them, while searches still
 * use the version before.
 *
 *     changing ──park──► waiting ──resume──► changing ──promote──► available
 *
 * A build parks its version with a reason.  Whatever ends the wait resumes it, and the build
 * continues where it had ended, at its publication.  The reason, and what an operator accepted,
 * stay stored until the version is promoted or deleted.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_WAITING_H
#define SRC_STORE_WAITING_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;
struct stored_job;

/* Job states: its version waits; its version only needs to be published. */
#define JOB_WAITING  "waiting"
#define JOB_COMPLETE "complete"

struct stored_wait {
    struct str index; /* alias: "orders" */
    uint64_t number;
    struct str reason; /* "dead_letters", "differs", "person" */
    struct str detail; /* the reason for people */
    uint64_t letters;  /* dead letters at the last judgement */
    uint64_t rows;     /* rows the version was made of */
    uint64_t accepted; /* dead letters that an operator accepted */
    int64_t since_ms;
};

/*
 * Park the version and its job in one transaction, and save the job's counts.  If the wait is
 * stored already, its accepted and since_ms stay.  ERR_REJECT: the version was stopped.
 * ERR_STOP: it is not being built, or its job has another owner.
 */
bool store_park_version(struct store *s, uint64_t term, const struct stored_job *job,
                        const struct stored_wait *w, struct err *err) MUST_CHECK;
/* Save the result of another judgement: letters and detail. */
bool store_save_wait(struct store *s, const struct stored_wait *w, struct err *err) MUST_CHECK;
/*
 * Let the build continue, with w->accepted, in one transaction.  ERR_REJECT, HTTP status 409:
 * the version does not wait.
 */
bool store_resume_version(struct store *s, const struct stored_wait *w,
                          struct err *err) MUST_CHECK;
/* Load all waits, by index and number. */
bool store_load_waits(struct store *s, struct arena *a, struct stored_wait **out, size_t *n,
                      struct err *err) MUST_CHECK;

#endif
