/*
 * The calls about one topic: reset, pause, resume.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks)
 */
#ifndef REBALANCE_TOPIC_ORDERS_H
#define REBALANCE_TOPIC_ORDERS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct coordinator;

/*
 * Let a topic that stopped (purged log, changed server) go on from the server's current
 * position. Marks its tables for a rebuild.
 */
bool coordinator_topic_reset(struct coordinator *co, struct str topic, bool dry_run,
                             struct buf *json, struct err *err) MUST_CHECK;

/*
 * Stop reading the topic's log until coordinator_topic_resume().  What was read is delivered.
 * Survives a restart.  reason: the person's words, or empty.
 */
bool coordinator_topic_pause(struct coordinator *co, struct str topic, struct str reason,
                             bool dry_run, struct buf *json, struct err *err) MUST_CHECK;
/*
 * End a pause, and retry now what waits for a person to repair a privilege, password or
 * setting.
 */
bool coordinator_topic_resume(struct coordinator *co, struct str topic, bool dry_run,
                              struct buf *json, struct err *err) MUST_CHECK;

#endif
