/*
 * How columns compare in SQL: which can be joined, and the value of one as another compares it.
 *
 * Expressions are SQL texts; everything is appended.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_COMPARISON_H
#define SYNC_DOCUMENT_COMPARISON_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct column;

/* Whether two columns can be joined exactly. */
bool comparison_can_join(const struct column *outer, const struct column *inner);
/* Whether they are equal to each of their two servers, which compares by its own column alone,
 * when they are to the other one: of one class, texts by one collation. */
bool comparison_can_join_across(const struct column *outer, const struct column *inner);
/* Both compare a value in the same way, so that one comparison says all. */
bool comparison_is_alike(const struct column *a, const struct column *b);

/* expression, which is of column source, in the type and collation of c, which can be joined.
 */
void comparison_append_as(struct buf *sql, const struct column *c, const struct column *source,
                          struct str expression);
/* name = expression, as c, which name stands for, compares: an index on c serves. */
void comparison_append_equal(struct buf *sql, struct str name, const struct column *c,
                             const struct column *source, struct str expression);
/* The column's value, for a table made by SELECT.  Labels are texts there: as it is, their
 * column would also be the number of its label. */
void comparison_append_value(struct buf *sql, struct str table, const struct column *c);

#endif
