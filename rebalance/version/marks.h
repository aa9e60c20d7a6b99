#ifndef REBALANCE_VERSION_MARKS_H
#define REBALANCE_VERSION_MARKS_H

#include "rebalance/state/parts.h"

/* Record durably that documents of the target's index may be stale until the next build. */
bool coordinator_mark_index(struct coordinator *co, const struct target *target,
                            const char *reason, struct err *err) MUST_CHECK;

#endif
