/*
 * The joins of a definition against the live tables: columns that are there and compare alike,
 * by indexes in both directions, and how many documents a changed row is in.
 *
 * @thread any (pure but for the source)
 */
#ifndef SYNC_MODEL_DEFINITION_CHECK_JOIN_H
#define SYNC_MODEL_DEFINITION_CHECK_JOIN_H

#include "src/base/str.h"
#include "src/problem.h"
#include "sync/model/definition.h"

#include <stddef.h>

struct checker;
struct subject;

/* Columns of a table, and columns of another that they are joined with. */
struct joined_columns {
    const struct str *from, *to;
    size_t n_from, n_to;
    enum refresh refresh;
    struct place place;
};

/* Both subjects have facts.  Fills the reach of s. */
void definition_check_join(struct checker *c, const struct subject *outer, struct subject *s,
                           const struct joined_columns *p);

/*
 * Warns of a table without an index that begins with the columns; what_for goes on from "by
 * which".  A view has no indexes of its own; the server uses those of its tables.
 */
void definition_check_index(struct checker *c, const struct subject *s,
                            const struct str *columns, size_t n, struct place place,
                            const char *what_for);

#endif
