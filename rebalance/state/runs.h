/*
 * Runs that cron or a timer starts, and when each last succeeded: in the store, so that it
 * survives a restart and a new owner.
 *
 * @thread any; note blocks on the store
 */
#ifndef REBALANCE_STATE_RUNS_H
#define REBALANCE_STATE_RUNS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct coordinator;
struct stored_value;

enum run_kind {
    RUN_CHECK = 0, /* millrace check */
    RUN_DELAYED,   /* millrace delayed run */
    RUN_REPLAY,    /* millrace replay */
    N_RUN_KINDS,
};

/* "check", "delayed", "replay". */
struct str run_word(enum run_kind kind);

/* A run for this table ("shop.orders"; of several that share an index, the first) succeeded. */
bool coordinator_note_run(struct coordinator *co, enum run_kind kind, struct str table,
                          struct err *err) MUST_CHECK;
/* When it last did, in wall time, by what the store has under STORE_SUCCESS; 0: never. */
int64_t run_last_ms(const struct stored_value *values, size_t n, enum run_kind kind,
                    struct str table);

#endif
