/*
 * struct row_fill: what an update's images together say of the row after it.
 *
 * binlog_row_image decides which columns the images have.  One that the new image lacks was not
 * changed: it has the value of the old image, or, where both lack it (MINIMAL, NOBLOB), it
 * stays VALUE_ABSENT, which is not NULL.  A generated column may change without being named: it
 * has its old value where nothing has changed that its expression may mean, and else of it the
 * new image alone is believed.
 *
 * @thread one at a time
 */
#ifndef SYNC_BINLOG_ROW_FILL_H
#define SYNC_BINLOG_ROW_FILL_H

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
 * Fill the new image of an update from its old one; other changes stay as they are.  schema: of
 * the rows; generated: for each of its columns the expression, ptr NULL: it has none.  The filled
 * image is valid until the next call and as long as the values of both were.
 */
void row_fill(struct row_fill *f, struct row_change *change, const struct schema *schema,
              const struct str *generated);

#endif
