/*
 * Check for generated columns that change while their row does not, which MariaDB allows in
 * virtual columns: they depend on the time, or on what else their expression calls
 * (expression.h).  No event announces such a change.
 *
 * @thread any (pure except for the checker)
 */
#ifndef SYNC_CHECK_CHECK_GENERATED_H
#define SYNC_CHECK_CHECK_GENERATED_H

#include "src/base/base.h"
#include "sync/check/checked_table.h"

#include <stdbool.h>
#include <stddef.h>

/* The parts of a table that a definition uses. */
struct used_columns {
    bool all; /* also columns not listed */
    const struct column_definition *columns;
    size_t n_columns;
    struct str clauses[2]; /* SQL that may name columns; empty if none */
};

/* Report a warning for each such column shown, an error for each that a clause names. */
void definition_check_generated(struct checker *c, const struct checked_table *s,
                                const struct used_columns *used);

#endif
