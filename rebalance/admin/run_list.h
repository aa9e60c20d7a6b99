/*
 * Delayed runs, as the API lists them among the jobs.
 *
 * @thread any
 */
#ifndef REBALANCE_ADMIN_RUN_LIST_H
#define REBALANCE_ADMIN_RUN_LIST_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

struct coordinator;
struct json_writer;
struct store_copy;

/* name: an id ("delayed-3"), topic or table; empty: all. */
void coordinator_list_runs(struct coordinator *co, const struct store_copy *stored,
                           struct str name, struct json_writer *w, size_t *n_listed);

#endif
