/*
 * struct cascade_parent: which cascades a row change of one parent table sets off
 * (sync/routing/cascade_plan.h), for rows of one shape.
 *
 * Pure.  @thread one at a time
 */
#ifndef SYNC_RELATED_CASCADE_PARENT_H
#define SYNC_RELATED_CASCADE_PARENT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/routing/cascade_plan.h"

#include <stdbool.h>
#include <stddef.h>

struct cascade_parent;
struct row_change;
struct schema;

/* Borrows the table; takes a reference to the rows' schema. */
struct cascade_parent *cascade_parent_new(const struct cascade_table *t,
                                          struct schema *rows) RETURNS_NONNULL MUST_CHECK;
void cascade_parent_free(struct cascade_parent *p); /* NULL is allowed */

struct cascade_triggered {
    enum cascade_cause cause;
    const struct cascade_effect *effect;
    const struct str *keys; /* for each key of the effect: old values; empty: does not count */
    const struct str *now;  /* of an update, for each key that counts: its new values */
    const bool *unknown;    /* for each key: it may count, but the images lack its values */
};

/* Returns false if the change sets off nothing. out is valid until the next call. */
bool cascade_parent_look(struct cascade_parent *p, const struct row_change *change,
                         struct cascade_triggered *out);

#endif
