/*
 * How columns compare in SQL: which can be joined, and how to convert a value to compare as
 * another column.
 *
 * Expressions are SQL text.  All functions append.
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

/* Tell whether a join of the two columns is exact. */
bool comparison_can_join(const struct column *outer, const struct column *inner);
/*
 * Tell whether the two columns can be joined across servers, each of which compares by its own
 * column alone: they must agree, so both need the same class, and for text the same collation.
 */
bool comparison_can_join_across(const struct column *outer, const struct column *inner);
/* Tell whether both columns compare values the same way, so that one comparison suffices. */
bool comparison_is_alike(const struct column *a, const struct column *b);

/*
 * Convert expression, a value of column source, to the type and collation of c.  Requires that
 * they can be joined.
 */
void comparison_append_as(struct buf *sql, const struct column *c, const struct column *source,
                          struct str expression);
/*
 * Append name = expression, compared as column c, which name denotes; an index on c can be
 * used.
 */
void comparison_append_equal(struct buf *sql, struct str name, const struct column *c,
                             const struct column *source, struct str expression);
/*
 * Append the column's value for a derived table.  Labels become text: otherwise the derived
 * column would also compare as the label's number.
 */
void comparison_append_value(struct buf *sql, struct str table, const struct column *c);

#endif
