/*
 * struct cascade_parent: what the row changes of one parent table set off (sync/cascade_plan.h),
 * for rows of one shape.
 *
 * Pure.  @thread one at a time
 */
#ifndef SYNC_CASCADE_PARENT_H
#define SYNC_CASCADE_PARENT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/cascade_plan.h"

#include <stdbool.h>
#include <stddef.h>

struct cascade_parent;
struct row_change;
struct schema;

/* Borrows the table; takes a reference of the rows' schema. */
struct cascade_parent *cascade_parent_new(const struct cascade_table *t,
                                          struct schema *rows) RETURNS_NONNULL MUST_CHECK;
void cascade_parent_free(struct cascade_parent *p); /* NULL is fine */

struct cascade_set_off {
    enum cascade_cause cause;
    const struct cascade_effect *effect;
    const struct str *keys; /* of the effect's keys: the old values, empty: it does not count */
    const bool *unknown;    /* it may count, and the images do not have its values */
};

/* False: nothing.  out is good until the next look. */
bool cascade_parent_look(struct cascade_parent *p, const struct row_change *change,
                         struct cascade_set_off *out);

#endif
