/*
 * `millrace binlog inspect`: what a log contains, in figures.
 *
 * Prints a JSON object for each file of the log: who wrote it and in which format, which time
 * and GTIDs it spans, events by type, row changes by table, statements that change tables, the
 * largest transaction, and any damage.
 */
#ifndef SYNC_INSPECT_INSPECT_H
#define SYNC_INSPECT_INSPECT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/inspect/log_filter.h"

#include <stdbool.h>

struct json_writer;
struct transport;

/* Limits the statements listed per file; more are only counted. */
#define INSPECT_STATEMENTS_MAX 1000

/*
 * Read all of t and write an object per file, as elements of the open list.
 *
 * Returns false if t is damaged or unreadable: err names file, offset and reason, and the last
 * object has the figures up to the damage, and the damage.  Also returns false if rows of a
 * table cannot be decoded; reading goes on then, and that table gets a "fault".
 */
bool inspect_run(struct transport *t, const struct log_excerpt *excerpt, struct json_writer *w,
                 struct err *err) MUST_CHECK;

#endif
