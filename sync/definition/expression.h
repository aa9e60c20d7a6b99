/*
 * The SQL expressions of a definition: conditions (`filter`, `where`) and `order_by`.
 *
 * The server interprets them.  This refuses text that is more than one expression, and text
 * whose result may change while its row does not: subqueries, variables, sequences, and
 * functions not known to be deterministic (expression_functions.h).  No event would announce
 * such a change, and documents would become stale.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_EXPRESSION_H
#define SYNC_DEFINITION_EXPRESSION_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

/*
 * Check that text is one expression.  A rule like those of sync/definition/rule.h: returns
 * NULL, or a phrase to follow "`TEXT` ".
 */
const char *expression_find_fault(struct str text);

/* A part whose result does not depend on the row alone. */
struct expression_doubt {
    struct str what; /* as written in the text */
    const char *why; /* a phrase to follow "`WHAT` " */
    const char *fix;
};
/*
 * Find the first such part.  Returns false if there is none. text must pass
 * expression_find_fault().
 */
bool expression_find_doubt(struct str text, struct expression_doubt *out);

/*
 * The same for a whole SELECT (`level_sql` of a top relation): one statement that only reads,
 * and calls no stored function.  Joins, subqueries and UNION are fine.
 */
const char *statement_find_fault(struct str text);
bool statement_find_doubt(struct str text, struct expression_doubt *out);

#endif
