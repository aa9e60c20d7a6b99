/*
 * The condition of `verify --where`: which rows of a table are compared. Only the files of
 * rebalance/verify include this.
 *
 * @thread any
 */
#ifndef REBALANCE_VERIFY_CONDITION_H
#define REBALANCE_VERIFY_CONDITION_H

#include "rebalance/verify/run.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

/*
 * Tell whether the table's server takes the condition, in a read of no rows. Refuses what is
 * more than one expression. Blocks on the server as people's requests do.
 */
bool condition_check(struct coordinator *co, struct str table, struct str where,
                     struct err *err) MUST_CHECK;

/* Tell whether the target is of the table that the run was asked for. */
bool condition_concerns(const struct verify_run *run, const struct target *t);

#endif
