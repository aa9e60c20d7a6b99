/*
 * Why is one document, or the documents that show one related row, as searches see it?
 *
 * Both sides are looked at as `verify` does; then everything that may lie between them is asked
 * where this document is: delivery, the store, the index's hold, and what people paused.
 */
#ifndef REBALANCE_TRACE_TRACE_H
#define REBALANCE_TRACE_TRACE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct coordinator;

struct trace_request {
    struct str table;
    struct str key;  /* an `_id`, as for verify; of a related row, its primary key likewise */
    bool log;        /* read the server's log for changes of the row, too */
    struct str from; /* FILE:OFFSET, where to begin in it; empty: at the oldest that is there */
};

/*
 * Trace a document and append the answer.  ERR_REJECT if there is no such table, or the key
 * cannot be one.  Writes nothing.  @thread any (locked inside; blocks, the servers, the engine
 * and the store as people's requests do, and some seconds for changes on their way or the log)
 */
bool coordinator_trace(struct coordinator *co, const struct trace_request *r, struct buf *json,
                       struct err *err) MUST_CHECK;

#endif
