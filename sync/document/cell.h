/*
 * Turn one column of a SELECTed row into the same struct value that the row image gives.
 *
 * The session must use utf8mb4 and time zone +00:00.  A plain SELECT prints FLOAT with six
 * digits; cell_append_select() makes reals exact.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_CELL_H
#define SYNC_DOCUMENT_CELL_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/value/value.h"

struct buf;
struct column;

/* Append what to SELECT for column c of the table called alias.  Quotes both names. */
void cell_append_select(struct buf *sql, struct str alias, const struct column *c);

/*
 * Borrows from the cell.  ENUM and SET get labels only; date and time are separated by a space,
 * where the row image has a T.
 */
struct value cell_value(const struct column *c, struct str cell);

#endif
