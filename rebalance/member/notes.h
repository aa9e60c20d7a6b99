/*
 * Events of the barrier in a queue, with copies of their texts. A note may be due later.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_MEMBER_NOTES_H
#define REBALANCE_MEMBER_NOTES_H

#include "rebalance/cluster/barrier_event.h"
#include "src/base/base.h"

#include <stdint.h>

struct notes;

struct member_note {
    struct barrier_event event; /* its texts belong to the note */
    int64_t due_ms;             /* of clock_mono_ms() */
    struct member_note *next;
    struct arena *texts;
};

struct notes *notes_new(void) RETURNS_NONNULL MUST_CHECK;
void notes_free(struct notes *all); /* NULL is fine */
/* Copies the event, but for a list of nodes, which no event in a queue has. */
void notes_put(struct notes *all, const struct barrier_event *e, int64_t due_ms);
/* The oldest one, if it is due, which the caller frees; else NULL. */
struct member_note *notes_take(struct notes *all, int64_t now_ms) MUST_CHECK;
void member_note_free(struct member_note *n);

#endif
