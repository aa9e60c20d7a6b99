/*
 * The SQL expressions of a definition: conditions (`filter`, `where`) and `order_by`.
 *
 * They are the server's to understand.  Here is refused what would be more than one expression,
 * and what says something else while its row stays as it is: subqueries, the time, random
 * numbers, the session.  No change of the row would tell of that, so documents would grow stale.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_EXPRESSION_H
#define SYNC_MODEL_EXPRESSION_H

#include "src/base/base.h"
#include "src/base/str.h"

/* A rule as those of definition_rule.h: NULL, or a phrase that goes on from "`TEXT` ". */
const char *expression_find_fault(struct str text);

#endif
