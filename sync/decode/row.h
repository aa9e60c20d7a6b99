/*
 * struct row_reader: rows events in, arrays of struct value out.
 *
 * Each row has one value per column of the table map's schema.  VALUE_ABSENT, unlike
 * VALUE_NULL, means that the (partial) image lacks the column.  BINARY is padded to its full
 * length, text is UTF-8.  Text that is invalid in its column's character set comes untouched as
 * VALUE_BYTES.
 *
 * @thread one at a time; several readers of one table_map may work in parallel
 */
#ifndef SYNC_DECODE_ROW_H
#define SYNC_DECODE_ROW_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/decode/event.h"
#include "sync/decode/table_map.h"
#include "sync/value/value.h"

#include <stdbool.h>
#include <stddef.h>

struct row_change {
    enum row_op op;
    const struct value *before; /* NULL for an insert */
    const struct value *after;  /* NULL for a delete */
    size_t n_cells, n_nulls;    /* of both images */
    bool partial;               /* an image lacks a column that a full row needs */
    bool unsolved; /* the new image lacks a JSON value that changed: the log has only the change
                    */
};

struct row_reader;

struct row_reader *row_reader_new(void) RETURNS_NONNULL MUST_CHECK;
void row_reader_free(struct row_reader *r); /* NULL is allowed */

/*
 * Start on one event.  Borrows rows and map until the last row_reader_next().  Decompresses
 * rows.  ERR_REJECT if the rows cannot be read (map->broken, damage, an unknown format): stop
 * the table; others may go on.
 */
bool row_reader_open(struct row_reader *r, const struct event_rows *rows,
                     const struct table_map *map, struct err *err) MUST_CHECK;

/*
 * Read the next row.  Returns 1, 0 at the end, -1 on damage.  Values borrow from the event and
 * from a.  With a NULL, values and arrays are valid until the next call; else a holds the
 * arrays, too.
 */
int row_reader_next(struct row_reader *r, struct arena *a, struct row_change *out,
                    struct err *err) MUST_CHECK;

#endif
