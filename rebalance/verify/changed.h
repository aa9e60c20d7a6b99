/*
 * A check: the comparison of the rows whose daily_check_column has changed. Only the files of
 * rebalance/verify include this.
 *
 * A check begins at the latest value that the last good one saw, and a minute before it, since
 * a row shows when it was written and not when that was committed (ADR 20). It cannot see
 * deleted rows, rows without a value, and changes of related rows.
 *
 * @thread the job's
 */
#ifndef REBALANCE_VERIFY_CHANGED_H
#define REBALANCE_VERIFY_CHANGED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct definitions;
struct verify_job;

/* Returns the check column of a table on the server, "shop.orders"; empty: it has none. */
struct str verify_changed_column(const struct definitions *d, struct str table);

/* The check was good: the next one begins where it has ended. Blocks on the store. */
bool verify_changed_keep(const struct verify_job *j, struct err *err) MUST_CHECK;

#endif
