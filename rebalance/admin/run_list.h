/*
 * Delayed runs, as the API lists them among the jobs.
 *
 * @thread any
 */
#ifndef REBALANCE_ADMIN_RUN_LIST_H
#define REBALANCE_ADMIN_RUN_LIST_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct catalogue;
struct definitions;
struct coordinator;
struct json_writer;
struct store_copy;
struct stored_job;

/* name: an id ("delayed-3"), topic or table; empty: all. */
void coordinator_list_runs(struct coordinator *co, const struct store_copy *stored,
                           struct str name, struct json_writer *w, size_t *n_listed);
/* Whether the job is a part of a run that has this name. An empty name: of none. */
bool run_list_has(const struct definitions *d, const struct catalogue *c,
                  const struct store_copy *stored, struct str name,
                  const struct stored_job *job) MUST_CHECK;

#endif
