/*
 * A sync by time: read again the rows of one index version whose check column has a later
 * value.
 *
 * For sources that no log covers: views, tables of other engines.  A run first waits until the
 * stream has read everything that the log held when the run began.  So its writes have higher
 * versions than all earlier ones, also those before a restart.  Then it hands over the keys of
 * changed rows, page by page.  Delivery reads these rows afresh (`fresh` in struct doc_write).
 * The cursor is stored after each page is written.
 *
 * A transaction may commit later than the time that it wrote.  So until nothing newer came for
 * the length of the overlap, some runs begin that long before the latest time seen.
 *
 * @thread sync; a run blocks on the server, the stream and the engine
 */
#ifndef REBALANCE_POLL_TABLE_SYNC_H
#define REBALANCE_POLL_TABLE_SYNC_H

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

/* *rows: the number of rows handed over.  ERR_RETRY: not possible now; ERR_STOP on shutdown. */
bool table_sync_run(const struct table_sync *s, uint64_t *rows, struct err *err) MUST_CHECK;

/* Store the cursor before a version is filled: syncs read only later changes. */
bool table_sync_begin(struct store *store, struct mysql_conn *conn, const struct plan *plan,
                      struct str check, struct str index, struct err *err) MUST_CHECK;

#endif
