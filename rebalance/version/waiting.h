/* Versions that are complete and wait to be published. */
#ifndef REBALANCE_VERSION_WAITING_H
#define REBALANCE_VERSION_WAITING_H

#include "rebalance/state/parts.h"

/* Resume the versions whose reason to wait is gone.  Blocks. */
void coordinator_look_at_waiting(struct coordinator *co) NEEDS(co->admin_lock);
/* A build has ended, and its version waits. */
void coordinator_on_waiting(struct coordinator *co, const struct stored_version *v,
                            struct str table) NEEDS(co->admin_lock);
/*
 * Put "wait": the reason as a value and in words, and the commands that end the wait; null if
 * the version does not wait.
 */
void coordinator_put_wait(struct json_writer *w, const struct stored_wait *wait,
                          struct str table);
/*
 * An operator publishes the version, accepting wait->accepted dead letters.  dry_run: only say
 * whether it may be.
 */
bool coordinator_cutover(struct coordinator *co, const struct stored_wait *wait,
                         struct str table, bool dry_run, struct err *err)
    NEEDS(co->admin_lock) MUST_CHECK;

#endif
