/* The mark that documents of an index may differ from their rows; status and doctor show it. */
#ifndef REBALANCE_VERSION_MARKS_H
#define REBALANCE_VERSION_MARKS_H

#include "rebalance/state/parts.h"

/*
 * Record durably that documents of the target's index may be stale until the next build, or
 * until a verification of the whole index ends equal.
 */
bool coordinator_mark_index(struct coordinator *co, const struct target *target,
                            const char *reason, struct err *err) MUST_CHECK;

/*
 * A verification of the whole index begins, or ends. The mark says so in between; a mark that
 * is set again meanwhile does not, and stays. A run that finds the index equal takes the mark
 * away.
 */
bool coordinator_begin_mark(struct coordinator *co, struct str index, uint64_t job,
                            struct err *err) MUST_CHECK;
bool coordinator_end_mark(struct coordinator *co, struct str index, uint64_t job, bool is_equal,
                          struct err *err) MUST_CHECK;

#endif
