/*
 * Which tables use the IK analyzer.  Text that was indexed before a change of the words stays
 * as it is; a build of the index writes it again.
 *
 * @thread any
 */
#ifndef REBALANCE_WORDS_USAGE_H
#define REBALANCE_WORDS_USAGE_H

#include "src/base/base.h"

#include <stdint.h>

struct coordinator;
struct json_writer;

/*
 * Writes "tables": each table whose columns, settings or mapping name an analyzer ik_..., with
 * the version that searches use, and whether that was built before the words changed.
 * changed_ms: when they did, 0: never.
 */
void word_usage_write(struct coordinator *co, struct json_writer *w, int64_t changed_ms);

#endif
