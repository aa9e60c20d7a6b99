/*
 * struct cascade_rows: changed rows of one table, whose followers in one index version are to be
 * looked for (sync/cascade_plan.h), and the changes that wait for it.
 *
 * @thread one at a time
 */
#ifndef SYNC_CASCADE_ROWS_H
#define SYNC_CASCADE_ROWS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/cascade_plan.h"
#include "sync/delivery/ticket.h"
#include "sync/document/lookup.h"
#include "sync/routing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A change that waits, held (ticket_hold()), and how it ends when nothing is found. */
struct cascade_hold {
    struct ticket *ticket; /* NULL: none */
    enum outcome idle;
};

/* Which rows these are. */
struct cascade_origin {
    struct routing *routing;
    const struct cascade_table *table;
    enum cascade_cause cause;
    uint8_t depth;     /* so many keys led here, below a row that the log has */
    uint64_t at_least; /* what is read again must include it, as in struct doc_write */
    int64_t commit_ms;
};

struct cascade_list { /* values of a column of a key */
    struct str *texts;
    size_t n, cap;
};

struct cascade_follow;

struct cascade_rows {
    struct cascade_rows *next; /* for whoever queues it */
    struct cascade_origin from;
    size_t step; /* of the effect */
    struct arena *arena;
    struct cascade_list **values; /* of each key, for each of its columns */
    size_t n;
    struct cascade_follow *follow;
    struct ticket *ticket; /* of what is found; made when it is first asked for */
    size_t cost;           /* bytes, as its owner counted them */
};

/* Takes a reference of from->routing. */
struct cascade_rows *cascade_rows_new(const struct cascade_origin *from,
                                      size_t step) RETURNS_NONNULL MUST_CHECK;
/* With its holds given back as abandoned, if cascade_rows_end() was not called. */
void cascade_rows_free(struct cascade_rows *r);

const struct cascade_effect *cascade_rows_effect(const struct cascade_rows *r);
struct target *cascade_rows_target(const struct cascade_rows *r);

/* Whether one more row of the same kind may be added. */
bool cascade_rows_take(const struct cascade_rows *r, const struct cascade_origin *from,
                       size_t step);
/* keys: for each key of the effect its values (sync/document/key.h), empty: it does not count.
 * Takes the hold over, if there is one. */
void cascade_rows_add(struct cascade_rows *r, const struct cascade_origin *from,
                      const struct str *keys, struct cascade_hold hold);

/* The ticket of what is found: whoever works for it holds it. */
struct ticket *cascade_rows_ticket(struct cascade_rows *r) RETURNS_NONNULL;
void cascade_rows_found(struct cascade_rows *r);
/* Everything was found: the changes end with the last document, or now. */
void cascade_rows_end(struct cascade_rows *r);
/* Nobody will look: the changes end so. */
void cascade_rows_give_up(struct cascade_rows *r, enum outcome how);

/* Keys that lead to the step's documents count. */
bool cascade_step_counts(const struct cascade_step *s, const struct str *keys);

#endif
