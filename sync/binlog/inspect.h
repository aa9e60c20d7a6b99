/*
 * `millrace binlog inspect`: what a log holds, in figures (design part 6).
 *
 * One JSON object for each file that the log consists of: who wrote it and how, what time and
 * which GTIDs it spans, events by type, row changes by table, statements that change tables,
 * the largest transaction, and where it is damaged.
 */
#ifndef SYNC_BINLOG_INSPECT_H
#define SYNC_BINLOG_INSPECT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/log_excerpt.h"

#include <stdbool.h>

struct json_writer;
struct transport;

/* Statements told of each file; more are counted. */
#define INSPECT_STATEMENTS_MAX 1000

/*
 * Read everything t has and write an object for each file, as elements of an open list.  False:
 * damaged or unreadable; err names file, offset and reason, and the object written last has the
 * figures of what is before the damage, and the damage itself.  Also false when rows of a table
 * cannot be decoded, which ends nothing: their table has a "fault".
 */
bool inspect_run(struct transport *t, const struct log_excerpt *excerpt, struct json_writer *w,
                 struct err *err) MUST_CHECK;

#endif
