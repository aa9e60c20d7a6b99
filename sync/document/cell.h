/*
 * A cell: one column of a SELECTed row, as a struct value equal to the one of the row image.
 *
 * The session has utf8mb4 and time zone +00:00.  A plain SELECT prints FLOAT with six digits,
 * so reals are asked for with cell_append_select().
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_CELL_H
#define SYNC_DOCUMENT_CELL_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/binlog/value.h"

struct buf;
struct column;

/* What to SELECT for column c of the table called alias (both quoted here). */
void cell_append_select(struct buf *sql, struct str alias, const struct column *c);

/*
 * The value borrows from the cell.  Of ENUM and SET it has the labels only; between date and
 * time is a space where the row image has a T.
 */
struct value cell_value(const struct column *c, struct str cell);

#endif
