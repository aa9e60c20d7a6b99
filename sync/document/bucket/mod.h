/*
 * Buckets by mod: rows whose bucket column leaves a remainder, as a condition beside the key's
 * order.
 *
 * It needs no index and no borders, and keeps its buckets whatever the rows are.  But the
 * server reads the whole table for each bucket; so say before how many rows that will be.
 *
 * @thread any; what takes a connection blocks on it
 */
#ifndef SYNC_DOCUMENT_BUCKET_MOD_H
#define SYNC_DOCUMENT_BUCKET_MOD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct mysql_conn;

/*
 * Append the condition, for `where` of struct loader_page (sync/document/loader.h), that a row
 * is in bucket number i of n: its time in seconds, NULL and times before 1970 as 0, leaves i.
 * ERR_REJECT if the column is no DATE, DATETIME or TIMESTAMP.
 */
bool mod_append(struct buf *where, const struct plan *p, struct str column, uint32_t n,
                uint32_t i, struct err *err) MUST_CHECK;

/* Guess how many rows the server will read for n such buckets; 0 if it does not know. */
bool mod_rows_examined(struct mysql_conn *c, const struct plan *p, uint32_t n, uint64_t *rows,
                       struct err *err) MUST_CHECK;

#endif
