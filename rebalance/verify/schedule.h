/*
 * The comparisons of whole indexes that Millrace starts by itself. It compares each index that
 * searches use again some time after its last comparison or its build (index.verify_every), at
 * index.verify_rate, and repairs what differs within the limits of `verify --repair`. One runs
 * at a time, and beside it one exchange of another index's trees (exchange.c).
 */
#ifndef REBALANCE_VERIFY_SCHEDULE_H
#define REBALANCE_VERIFY_SCHEDULE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdint.h>

struct coordinator;
struct definitions;
struct store_copy;
struct stored_version;

/*
 * When to compare an index again, in wall time: between three quarters and all of every_ms
 * after last_ms. Each index has its own part of the last quarter, so that indexes that were
 * built together are not compared together. every_ms is above 0.
 */
int64_t verify_due_ms(struct str index, int64_t last_ms, int64_t every_ms);

/*
 * When all of the version was last compared, or built if that is later, in wall time.
 * s may be NULL.
 */
int64_t verify_last_ms(const struct store_copy *s, const struct stored_version *v);

/*
 * When Millrace compares all of the version by itself, in wall time; INT64_MAX: never. Does not
 * ask whether the index takes writes now. s is not NULL.
 */
int64_t coordinator_comparison_due_ms(const struct coordinator *co, const struct definitions *d,
                                      const struct store_copy *s,
                                      const struct stored_version *v);

/*
 * Start the comparison, and the exchange, that is due for longest, if any is and none of its
 * kind runs. Leaves out indexes that are verified now, take nothing, are about to be replaced,
 * or whose documents pass a pipeline, which changes them.
 * @thread the coordinator's; under admin_lock; blocks on the store
 */
void coordinator_verify_due(struct coordinator *co);
/* The same if a job has ended since the last call. */
void coordinator_verify_next(struct coordinator *co);

#endif
