/*
 * From changed related rows to the documents that hold them, which are handed to delivery; what
 * leads to very many, or to documents of another topic, becomes a job (sync/fan_out.h).
 *
 * So does what leads over servers one of which is away, to a table that may not be read, or to one
 * that a statement reads for minutes: others would wait behind it.
 *
 * @thread the resolver's; blocks
 */
#ifndef SYNC_RESOLVE_RUN_H
#define SYNC_RESOLVE_RUN_H

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
    size_t *pending;    /* atomic: tasks that wait or run; counted down as they end */
    uint64_t *resolved; /* atomics: documents, tasks, tries that failed */
    uint64_t *resolves, *failures;
};

#define RESOLVE_TASKS_MAX 200 /* that are taken together */

/* Takes the n tasks over.  What fails is tried again until it works, its table stops, or all
 * does. */
void resolve_run(const struct resolve_run_options *opt, struct read_links *l,
                 struct resolve_task **tasks, size_t n);

#endif
