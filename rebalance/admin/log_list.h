/*
 * The event log, as the API lists it; with the events of a build what is kept of that build.
 *
 * @thread any (blocks on the store)
 */
#ifndef REBALANCE_ADMIN_LOG_LIST_H
#define REBALANCE_ADMIN_LOG_LIST_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct catalogue;
struct coordinator;
struct json_writer;
struct list_order;

/*
 * Write a page of the events, the newest first; o->name: a table's, or empty.  An event that
 * begins a build has a member "build".  If the name is the number of an event, write that one,
 * and its build with mapping and settings.  *n is their number; a table without events counts
 * as one.  *more_after: the number of the last event, if older ones follow, else 0.
 */
bool coordinator_list_log(struct coordinator *co, const struct catalogue *c,
                          const struct list_order *o, struct json_writer *w, size_t *n,
                          uint64_t *more_after, struct err *err) MUST_CHECK;

#endif
