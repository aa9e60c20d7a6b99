/*
 * struct row_reader: rows events in, arrays of struct value out.
 *
 * One value for each column of the table map's schema: VALUE_ABSENT where the (partial) image
 * has no such column, which is not VALUE_NULL.  BINARY is padded to its length again, text is
 * UTF-8. Text that is not valid in its column's character set comes as VALUE_BYTES, untouched.
 *
 * @thread one at a time; different readers of one table_map may work in parallel
 */
#ifndef SYNC_BINLOG_ROW_H
#define SYNC_BINLOG_ROW_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/binlog/event.h"
#include "sync/binlog/table_map.h"
#include "sync/binlog/value.h"

#include <stdbool.h>
#include <stddef.h>

struct row_change {
    enum row_op op;
    const struct value *before; /* NULL for an insert */
    const struct value *after;  /* NULL for a delete */
    bool partial; /* some column is absent from an image that would need it for a full row */
    bool unsolved; /* the new image lacks a JSON value that changed: only the change is logged */
};

struct row_reader;

struct row_reader *row_reader_new(void) RETURNS_NONNULL MUST_CHECK;
void row_reader_free(struct row_reader *r); /* NULL is fine */

/*
 * Start on one event; rows and map are borrowed until the last row_reader_next().  Unpacks
 * compressed rows.  ERR_REJECT: this event's rows cannot be had (map->broken, damaged, or a
 * form that is not understood); the table must stop, others may go on.
 */
bool row_reader_open(struct row_reader *r, const struct event_rows *rows,
                     const struct table_map *map, struct err *err) MUST_CHECK;

/*
 * The next row: 1, the end: 0, damage: -1.  Values borrow from the event and from a; with a
 * NULL they are valid until the next call only.  The arrays themselves are in a, or the
 * reader's.
 */
int row_reader_next(struct row_reader *r, struct arena *a, struct row_change *out,
                    struct err *err) MUST_CHECK;

#endif
