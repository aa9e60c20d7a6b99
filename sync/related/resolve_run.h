/*
 * From changed related rows to the documents that hold them, which go to delivery for a
 * re-read.  Keys that lead to very many documents, or to another topic's, become jobs
 * (sync/related/fan_out/fan_out.h).
 *
 * So do keys that lead over several servers while one is away, to a table that we may not read,
 * or to one that a statement reads for minutes: other tasks would wait behind them.
 *
 * @thread the resolver's; blocks
 */
#ifndef SYNC_RELATED_RESOLVE_RUN_H
#define SYNC_RELATED_RESOLVE_RUN_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

struct delivery;
struct fan_out;
struct read_links;
struct resolve_task;
struct stop;

struct resolve_run_options { /* all borrowed */
    const char *topic;
    struct delivery *delivery;
    struct fan_out *fan_out;
    struct stop *stop;
    size_t *pending;    /* atomic: tasks that wait or run; decremented as they end */
    uint64_t *resolved; /* atomics: documents, tasks, failed tries */
    uint64_t *resolves, *failures;
};

#define RESOLVE_TASKS_MAX 200 /* tasks taken together */

/*
 * Takes over the n tasks.  Retries what fails until it works, its table stops, or everything
 * does.
 */
void resolve_run(const struct resolve_run_options *opt, struct read_links *l,
                 struct resolve_task **tasks, size_t n);

#endif
