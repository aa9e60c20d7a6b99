/*
 * Of each table the runs that somebody should start (rebalance/state/runs.h): when each last
 * succeeded, and whether the next one is overdue by the configuration's expect_every.
 *
 * Pure, but for the copy of the view.
 */
#ifndef REBALANCE_VIEW_RUNS_H
#define REBALANCE_VIEW_RUNS_H

#include "rebalance/state/runs.h"
#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct coordinator_view;
struct doctor_list;
struct json_writer;
struct table_view;

struct run_view {
    bool concerns;   /* the kind can run for the table */
    int64_t last_ms; /* wall: 0: never */
    bool is_overdue;
};

struct run_view run_view_of(const struct coordinator_view *v, const struct table_view *t,
                            enum run_kind kind);
/* Append "runs": by kind, when it last succeeded and whether it is overdue. */
void coordinator_put_runs(struct json_writer *w, const struct coordinator_view *v,
                          const struct table_view *t);
/* Warn of what is overdue. */
void coordinator_check_runs(const struct coordinator_view *v, const struct table_view *t,
                            struct doctor_list *l);

#endif
