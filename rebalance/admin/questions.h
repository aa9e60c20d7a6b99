/*
 * The calls that answer questions and change nothing.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks)
 */
#ifndef REBALANCE_ADMIN_QUESTIONS_H
#define REBALANCE_ADMIN_QUESTIONS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct coordinator;

/*
 * noun: topic database table relation version index job log. name empty: all; 404 if it is
 * unknown.
 */
bool coordinator_list(struct coordinator *co, struct str noun, struct str name,
                      struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_status(struct coordinator *co, struct buf *json, struct err *err) MUST_CHECK;

bool coordinator_explain(struct coordinator *co, struct str table, struct str key,
                         struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_mapping(struct coordinator *co, struct str table, struct buf *json,
                         struct err *err) MUST_CHECK;
/* Answers a definition with every column of a table. Only its database must be defined. */
bool coordinator_generate_columns(struct coordinator *co, struct str table, struct buf *json,
                                  struct err *err) MUST_CHECK;
bool coordinator_doctor(struct coordinator *co, struct buf *json, struct err *err) MUST_CHECK;

/*
 * Append samples of all metrics, in any order (src/metric/metric.h). The web server renders
 * them.
 */
void coordinator_metrics(struct coordinator *co, struct buf *out);
/*
 * Returns true once the store is open, the definitions are loaded and the coordinator has
 * started. json lists the checks.
 */
bool coordinator_ready(struct coordinator *co, struct buf *json);

#endif
