/* One stored replay from its beginning, or where it was, to its end. */
#ifndef REBALANCE_REPLAY_JOB_H
#define REBALANCE_REPLAY_JOB_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct coordinator;
struct stored_job;

/*
 * Blocks until the job is over, is another node's, or the program ends.  Returns false with err
 * if it is still to be done.
 */
bool replay_job_run(struct coordinator *co, const struct stored_job *stored,
                    struct err *err) MUST_CHECK;

#endif
