/*
 * Tasks: what this node does for somebody who does not wait for it, as a drain.  Each has a
 * thread of its own and is listed among the jobs.  The newest TASKS_KEPT stay in memory with
 * their answers, which are their reports, until the daemon ends.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_TASK_TASK_H
#define REBALANCE_TASK_TASK_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

#define TASKS_KEPT 100 /* those that are over */
#define TASKS_MAX  16  /* that run at a time */

struct coordinator;
struct json_writer;
struct tasks;

/* Blocks until it is done.  order: a copy of what was ordered. */
typedef bool (*task_fn)(struct coordinator *co, const void *order, struct buf *json,
                        struct err *err);

struct task_order {
    const char *kind; /* "drain"; static */
    task_fn run;
    const void *order; /* copied; its pointers must outlive the daemon */
    size_t size;       /* of it, in bytes */
};

struct tasks *tasks_new(void) RETURNS_NONNULL MUST_CHECK;
void tasks_refuse(struct tasks *all); /* new ones, from now on */
/* The same, and wait for those that run, which whoever calls has told to end. */
void tasks_join(struct tasks *all);
void tasks_free(struct tasks *all); /* joined; NULL is fine */

/*
 * Start it, and append its form: {"schema":"millrace/drain-start/1","job":"drain-1764403200"}.
 * ERR_RETRY: too many run.
 */
bool tasks_start(struct tasks *all, struct coordinator *co, const struct task_order *o,
                 struct buf *json, struct err *err) MUST_CHECK;
/* Append the form of a task that is only tried: its job is empty.  Returns true. */
bool tasks_try(const struct task_order *o, struct buf *json);
/* List those that run, or the one of this name, also when it is over. */
void tasks_list(struct tasks *all, struct str name, struct json_writer *w, size_t *n_listed);
/*
 * Append what the task has answered, or how far it is.  *found: there is one of this name;
 * else nothing is appended.  Fails as the task did.
 */
bool tasks_report(struct tasks *all, struct str name, struct buf *json, bool *found,
                  struct err *err) MUST_CHECK;

#endif
