/*
 * struct cascade_rows: changed rows of one table whose dependent documents in one index version
 * are to be found (sync/routing/cascade_plan.h), and the changes that wait for that.
 *
 * @thread one at a time
 */
#ifndef SYNC_RELATED_CASCADE_ROWS_H
#define SYNC_RELATED_CASCADE_ROWS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/checkpoint/ticket.h"
#include "sync/document/lookup.h"
#include "sync/routing/cascade_plan.h"
#include "sync/routing/routing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A change that waits, held (ticket_hold()), and its outcome if nothing is found. */
struct cascade_hold {
    struct ticket *ticket; /* NULL: none */
    enum outcome idle;
};

/* Which rows these are. */
struct cascade_origin {
    struct routing *routing;
    const struct cascade_table *table;
    enum cascade_cause cause;
    bool swept;        /* a sweep's documents show them; else the log has the rows */
    uint64_t at_least; /* re-reads must include it, as in struct doc_write */
    int64_t commit_ms;
};

struct cascade_list { /* values of one column of a key */
    struct str *texts;
    size_t n, cap;
};

struct cascade_follow;

struct cascade_rows {
    struct cascade_rows *next; /* for whoever queues the rows */
    struct cascade_origin from;
    size_t step; /* index in the effect */
    struct arena *arena;
    struct cascade_list **values; /* [key][column] */
    size_t n;
    struct cascade_follow *follow;
    struct ticket *ticket; /* for what is found; made on first use */
    size_t cost;           /* bytes, as counted by the owner */
    bool kept;             /* its searches are stored for the end of a build, or none are */
};

/* Takes a reference to from->routing. */
struct cascade_rows *cascade_rows_new(const struct cascade_origin *from,
                                      size_t step) RETURNS_NONNULL MUST_CHECK;
/* Abandons its holds, unless cascade_rows_end() was called. */
void cascade_rows_free(struct cascade_rows *r);

const struct cascade_effect *cascade_rows_effect(const struct cascade_rows *r);
struct target *cascade_rows_target(const struct cascade_rows *r);

/* Tell whether one more row of the same kind may be added. */
bool cascade_rows_take(const struct cascade_rows *r, const struct cascade_origin *from,
                       size_t step);
/*
 * Add a row. keys: for each key of the effect its values (sync/document/key.h), empty if it
 * does not count.  Takes over the hold, if any.
 */
void cascade_rows_add(struct cascade_rows *r, const struct cascade_origin *from,
                      const struct str *keys, struct cascade_hold hold);

/* The ticket for what is found; everybody who works for it takes a reference. */
struct ticket *cascade_rows_ticket(struct cascade_rows *r) RETURNS_NONNULL;
void cascade_rows_found(struct cascade_rows *r);
/* The search is over: the changes end with the last document found, or now. */
void cascade_rows_end(struct cascade_rows *r);
/* Nobody will search: the changes end with this outcome. */
void cascade_rows_give_up(struct cascade_rows *r, enum outcome how);

/* Tell whether a key that leads to the step's documents counts. */
bool cascade_step_counts(const struct cascade_step *s, const struct str *keys);

#endif
