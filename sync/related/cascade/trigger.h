/*
 * struct cascade_trigger: one row change at a time, and what foreign keys change along with it
 * (sync/related/cascade/cascades.h).
 *
 * In each index version whose documents change along, the change's own ticket waits for these:
 * the cascades get a hold of it, and the outcome of the change if they find no document.
 *
 * @thread the builder's
 */
#ifndef SYNC_RELATED_CASCADE_TRIGGER_H
#define SYNC_RELATED_CASCADE_TRIGGER_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/related/cascade/rows.h"

#include <stdbool.h>
#include <stddef.h>

struct cascade_parent;
struct cascades;
struct progress;
struct row_change;
struct rows_at;
struct cascade_trigger;
struct target;

/* Borrows both. */
struct cascade_trigger *
cascade_trigger_new(struct cascades *cascades,
                    struct progress *progress) RETURNS_NONNULL MUST_CHECK;
void cascade_trigger_free(struct cascade_trigger *s);

/* Make a ticket for a change of the target's documents, inside the turnstile of its index. */
struct ticket *cascade_trigger_ticket(struct cascade_trigger *s,
                                      const struct target *target) RETURNS_NONNULL MUST_CHECK;

/*
 * Make this the current change, until the next call. parent: what its table's rows set off,
 * NULL for nothing.  Borrows all arguments until cascade_trigger_follow().
 */
void cascade_trigger_begin(struct cascade_trigger *s, const struct rows_at *at,
                           struct cascade_parent *parent, const struct row_change *change);
/*
 * Returns where to put a hold of the target's ticket; NULL if none of its documents change
 * along.
 */
struct cascade_hold *cascade_trigger_hold(struct cascade_trigger *s,
                                          const struct target *target);
/*
 * Returns likewise the hold of the next target whose documents have no place for the changed
 * row itself; NULL after the last.
 */
struct cascade_hold *cascade_trigger_next_hold(struct cascade_trigger *s,
                                               struct target **target);

/*
 * Rows whose key or join values change because a foreign key follows the change: they join
 * documents that do not show them yet.
 */
struct cascade_trigger_moved {
    size_t place;
    unsigned by;    /* how the key names rows: RESOLVER_BY (sync/document/resolver.h) */
    struct str key; /* their present values */
};
/*
 * for (size_t i = 0; cascade_trigger_next_moved(s, target, &i, &m);), each valid until the next
 * call.
 */
bool cascade_trigger_next_moved(struct cascade_trigger *s, const struct target *target,
                                size_t *i, struct cascade_trigger_moved *out);

/* Hand the current change to the cascades.  Never waits. */
void cascade_trigger_follow(struct cascade_trigger *s);

/* The event's rows are unavailable: mark every index version that may have changed along. */
void cascade_trigger_lose(struct cascade_trigger *s, const struct rows_at *at, const char *why);

#endif
