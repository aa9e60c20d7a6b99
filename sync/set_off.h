/*
 * struct set_off: one row change at a time, and what foreign keys change along with it
 * (sync/cascades.h).
 *
 * Each index version in which documents change along waits for these under the change's own
 * ticket: a hold of it goes to the cascades, with how the change ends where none is found.
 *
 * @thread the builder's
 */
#ifndef SYNC_SET_OFF_H
#define SYNC_SET_OFF_H

#include "src/base/base.h"
#include "sync/cascade_rows.h"

struct cascade_parent;
struct cascades;
struct progress;
struct row_change;
struct rows_at;
struct set_off;

/* Both borrowed. */
struct set_off *set_off_new(struct cascades *cascades,
                            struct progress *progress) RETURNS_NONNULL MUST_CHECK;
void set_off_free(struct set_off *s);

/* A ticket for a change of the target's documents, inside the turnstile of its index. */
struct ticket *set_off_ticket(struct set_off *s,
                              const struct target *target) RETURNS_NONNULL MUST_CHECK;

/* The change at hand, until the next one; parent: what its table's rows set off, NULL: nothing.
 * All are borrowed until set_off_follow(). */
void set_off_begin(struct set_off *s, const struct rows_at *at, struct cascade_parent *parent,
                   const struct row_change *change);
/* Where a hold of the target's ticket is to be put; NULL: none of its documents change along. */
struct cascade_hold *set_off_hold(struct set_off *s, const struct target *target);
/* Never waits. */
void set_off_follow(struct set_off *s);

/* Rows of the event cannot be had: nobody can tell what changed along with them. */
void set_off_lose(struct set_off *s, const struct rows_at *at, const char *why);

#endif
