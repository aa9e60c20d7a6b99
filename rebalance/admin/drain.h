/*
 * The calls that begin and cancel a drain.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks)
 */
#ifndef REBALANCE_ADMIN_DRAIN_H
#define REBALANCE_ADMIN_DRAIN_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct coordinator;

/* Deliver the queue while the stream goes on (sync/delivery/index/drain.h). */
#define DRAIN_TIMEOUT_MAX_MS 3600000
struct drain_request {
    bool all;
    unsigned worker;    /* unless all */
    int64_t timeout_ms; /* negative: delivery.drain_timeout */
    bool dry_run;       /* only say whether it may begin; the answer has no job */
};
/* Start a task that drains: its report says how the drain ended. */
bool coordinator_drain(struct coordinator *co, const struct drain_request *r, struct buf *json,
                       struct err *err) MUST_CHECK;
/* Cancel a running drain: it ends once every request in flight is answered. dry_run: only say
 * that it may be cancelled. */
bool coordinator_drain_cancel(struct coordinator *co, bool dry_run, struct buf *json,
                              struct err *err) MUST_CHECK;

#endif
