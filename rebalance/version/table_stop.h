/* The stop of a table, or the end of a version, whose changes can no longer be followed. */
#ifndef REBALANCE_VERSION_TABLE_STOP_H
#define REBALANCE_VERSION_TABLE_STOP_H

#include "rebalance/state/parts.h"

/* Report a stop that is stored, and refresh the catalogue. */
bool coordinator_tell_stop(struct coordinator *co, const struct stored_stop *stop,
                           struct err *err) MUST_CHECK;
struct table_stop {
    const char *reason;
    const char *way_out;
    bool again; /* rebuild it automatically, if its definition allows that */
};
/*
 * Stop the table of a target that cannot be written any further.  If its version is being
 * built, that build fails instead; if another version has replaced it, nothing happens.  Stored
 * in one transaction.
 */
bool coordinator_stop_target(struct coordinator *co, const struct target *target,
                             const struct table_stop *stop, struct err *err) MUST_CHECK;

#endif
