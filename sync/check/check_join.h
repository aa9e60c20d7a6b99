/*
 * Check the joins of a definition against the live tables: the columns exist, compare alike,
 * have indexes in both directions; and estimate how many documents hold a changed row.
 *
 * @thread any (pure except for the source)
 */
#ifndef SYNC_CHECK_CHECK_JOIN_H
#define SYNC_CHECK_CHECK_JOIN_H

#include "src/base/str.h"
#include "src/format/problem.h"
#include "sync/definition/definition.h"

#include <stddef.h>

struct checker;
struct checked_table;

/* Columns of one table and the columns of another that join with them. */
struct joined_columns {
    const struct str *from, *to;
    size_t n_from, n_to;
    enum refresh refresh;
    struct place place;
};

/* Both subjects must have facts.  Fills the reach of s. */
void definition_check_join(struct checker *c, const struct checked_table *outer,
                           struct checked_table *s, const struct joined_columns *p);

/*
 * Warn if no index of the table begins with the columns; what_for follows "by which".  Skips
 * views: the server uses the indexes of their tables.
 */
void definition_check_index(struct checker *c, const struct checked_table *s,
                            const struct str *columns, size_t n, struct place place,
                            const char *what_for);
/* Give the problem just added such an index as its fix. */
void definition_fix_index(struct checker *c, const struct checked_table *s,
                          const struct str *columns, size_t n);

#endif
