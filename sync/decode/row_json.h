/*
 * struct row_json: print the rows of an event as JSON straight from their bytes: the same
 * output as row_reader and value_append_json(), several times as fast.
 *
 * @thread one at a time
 */
#ifndef SYNC_DECODE_ROW_JSON_H
#define SYNC_DECODE_ROW_JSON_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "sync/decode/event.h"
#include "sync/decode/table_map.h"

#include <stdint.h>

/* Counted over all images written. */
struct row_json_counts {
    uint64_t cells, nulls;
    uint64_t idsum; /* sum of the first column if it is an integer, in two's complement */
};

struct row_json;

struct row_json *row_json_new(void) RETURNS_NONNULL MUST_CHECK;
void row_json_free(struct row_json *r); /* NULL is allowed */

/* Like row_reader_open(). */
bool row_json_open(struct row_json *r, const struct event_rows *rows, struct table_map *map,
                   struct err *err) MUST_CHECK;

/*
 * Append ,"before":{…} and ,"after":{…} of the next row, whichever it has.  Returns 1, 0 at the
 * end, -1 on damage.  Appends nothing on 0 and -1.
 */
int row_json_next(struct row_json *r, struct buf *out, struct row_json_counts *counts,
                  struct err *err) MUST_CHECK;

#endif
