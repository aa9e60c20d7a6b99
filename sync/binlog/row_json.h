/*
 * struct row_json: the rows of an event as JSON, straight from their bytes: the same as
 * row_reader and value_append_json() give, several times as fast.
 *
 * @thread one at a time
 */
#ifndef SYNC_BINLOG_ROW_JSON_H
#define SYNC_BINLOG_ROW_JSON_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "sync/binlog/event.h"
#include "sync/binlog/table_map.h"

#include <stdint.h>

/* Over all images that were written. */
struct row_json_counts {
    uint64_t cells, nulls;
    uint64_t idsum; /* of the first column where it is an integer, in two's complement */
};

struct row_json;

struct row_json *row_json_new(void) RETURNS_NONNULL MUST_CHECK;
void row_json_free(struct row_json *r); /* NULL is fine */

/* As row_reader_open(). */
bool row_json_open(struct row_json *r, const struct event_rows *rows, struct table_map *map,
                   struct err *err) MUST_CHECK;

/*
 * Append the next row to out as {"before":{…},"after":{…}} without the braces, whichever it
 * has, each with a comma before it: 1, the end: 0, damage: -1.  With 0 and -1 nothing is
 * appended.
 */
int row_json_next(struct row_json *r, struct buf *out, struct row_json_counts *counts,
                  struct err *err) MUST_CHECK;

#endif
