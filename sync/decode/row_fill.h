/*
 * struct row_fill: combine the images of an update into the full new row.
 *
 * binlog_row_image decides which columns an image has.  A column missing from the new image did
 * not change: take its old value; if both images lack it (MINIMAL, NOBLOB), it stays
 * VALUE_ABSENT, which is not NULL.  A generated column may change unlogged: keep its old value
 * only if no column that its expression may use has changed, else trust the new image alone.
 *
 * @thread one at a time
 */
#ifndef SYNC_DECODE_ROW_FILL_H
#define SYNC_DECODE_ROW_FILL_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct row_change;
struct schema;
struct value;

struct row_fill {
    struct value *after;
    size_t cap;
};
void row_fill_fini(struct row_fill *f);

/*
 * Complete the new image of an update from its old one; leaves other changes alone. schema
 * describes the rows; generated holds an expression per column, ptr NULL for columns without
 * one.  The result is valid until the next call and as long as the values of both images.
 */
void row_fill(struct row_fill *f, struct row_change *change, const struct schema *schema,
              const struct str *generated);

#endif
