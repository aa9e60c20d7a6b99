/*
 * struct holds: the indexes that delivery holds, because the engine takes nothing for them.
 *
 * @thread any (locked inside; takes no other lock)
 */
#ifndef REBALANCE_STATE_HOLDS_H
#define REBALANCE_STATE_HOLDS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/index/options.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
struct holds;

struct hold {
    struct str index; /* of holds_all(): with a NUL behind it */
    struct delivery_hold is;
};

struct holds *holds_new(void) RETURNS_NONNULL MUST_CHECK;
void holds_free(struct holds *h); /* NULL is fine */

/* Note why delivery holds the index; NULL: it holds it no more. */
void holds_note(struct holds *h, const char *index, const struct delivery_hold *hold);
/* Returns false if the index is not held.  out->index borrows from index. */
bool holds_find(struct holds *h, struct str index, struct hold *out) MUST_CHECK;
size_t holds_n(struct holds *h);
/* Copies all of them to the arena and returns their number. */
size_t holds_all(struct holds *h, struct arena *a, struct hold **list);
/* What the doctor calls such a hold: "table.runs.held.disk". */
const char *hold_code(enum cure cure);
/* Append what to do about an index held until cure.  rebuild: the command, or who does it. */
void hold_append_fix(struct buf *b, enum cure cure, const char *rebuild);
/* Append what to do about a table that stopped as its index was held: only a build helps. */
void hold_append_stop_fix(struct buf *b, enum cure cure, const char *rebuild);

#endif
