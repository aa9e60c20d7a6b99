/*
 * A sync by time: rows of one index version whose check column came later are read again.
 *
 * For what no log tells: views, tables of other engines.  A run waits until the stream has read
 * what the log held when it began, so that it writes above whatever was written before, also
 * before a restart; then it hands over the keys of changed rows, page by page, to be read by reads
 * that begin then (fresh, in struct doc_write).
 * The cursor is stored when a page is written.
 *
 * A transaction may commit later than the time that it wrote: until nothing newer came for the
 * length of the overlap, a run now and then begins that long before the latest time seen.
 *
 * @thread that of the syncs; a run blocks on the server, the stream and the engine
 */
#ifndef REBALANCE_TABLE_SYNC_H
#define REBALANCE_TABLE_SYNC_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct delivery;
struct mysql_conn;
struct pipeline;
struct plan;
struct stop;
struct store;
struct target;

struct table_sync {
    struct store *store; /* all borrowed */
    struct delivery *delivery;
    struct pipeline *pipeline;
    struct target *target;
    const struct plan *plan;
    struct str check; /* name of the column */
    uint32_t overlap_s;
    struct stop *stop;
};

/* *rows: how many were handed over.  ERR_RETRY: not now, and why; ERR_STOP. */
bool table_sync_run(const struct table_sync *s, uint64_t *rows, struct err *err) MUST_CHECK;

/* Before a version is filled: later runs begin with what comes from now on. */
bool table_sync_begin(struct store *store, struct mysql_conn *conn, const struct plan *plan,
                      struct str check, struct str index, struct err *err) MUST_CHECK;

#endif
