/*
 * struct cascades: follows what foreign keys change by themselves (sync/cascade_plan.h).
 *
 * The one exception to the rule that nothing is found by asking the index: when the event of
 * the parent is read, its children are gone.  So, for each index version by itself: whatever
 * was begun for it before is waited for (a turnstile), the index is refreshed and searched for
 * documents that show the parent's key, and each of these is read again by key.
 *
 * A document whose row is gone, with which others may have gone, stays: by it these are found.
 * Once the stream has come to where the log ended at that read, so that whatever they were is
 * known, they are found by its key and read again; when that is over, it is deleted.  So whoever
 * is gone goes from the lowest level up, and a kill at any moment leaves what the next search
 * needs.
 *
 * The parent's change is done when all of that is; until then the stored position stays before
 * it, and so does whatever else had asked for such a read.
 *
 * Where a key's column is not in the documents, or cannot be searched, the index version is
 * marked to be verified.
 *
 * @thread as each function says
 */
#ifndef SYNC_CASCADES_H
#define SYNC_CASCADES_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/cascade_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cascades;
struct delivery;
struct gone_row;
struct read_position;
struct search;
struct turnstile;

struct cascades_options { /* all borrowed */
    const char *topic;
    struct search *search;
    struct delivery *delivery;
    struct read_position *reader;
    void *ctx;
    /* Documents of the target may be stale from now on; durable when it returns.  @thread
     * builder, cascade */
    void (*mark)(void *ctx, const struct target *target, const char *reason);
    /* All of the log that came was worked off, and more would come.  @thread cascade */
    bool (*is_at_rest)(void *ctx);
};

/* Foreign keys lead no further, as in InnoDB itself; so what refers to itself ends. */
#define CASCADE_DEPTH_MAX 15

struct cascades *cascades_new(const struct cascades_options *opt) RETURNS_NONNULL MUST_CHECK;
void cascades_start(struct cascades *c);
/* What waits is given back undone. */
void cascades_stop(struct cascades *c);
void cascades_free(struct cascades *c); /* NULL is fine */

/* The routing of now; gives each of its targets the turnstile of its index.  @thread builder */
void cascades_set_routing(struct cascades *c, struct routing *routing);

/*
 * A row was changed: keys and holds are for the effect's keys and steps (taken over).  Never
 * waits.  @thread any
 */
void cascades_add(struct cascades *c, const struct cascade_origin *from, const struct str *keys,
                  const struct cascade_hold *holds);

/* More waits than should. */
bool cascades_is_full(const struct cascades *c);
/* Wait while more does.  @thread builder, with nothing gathered */
void cascades_wait(struct cascades *c);

/* Rows go, by keys, with those of the target's root, and these may go without an event. */
bool cascades_lead_on(struct cascades *c, const struct target *target);
/* A read did not find the row of such a root, whose document stays.  Never waits.  @thread any
 */
void cascades_gone(struct cascades *c, const struct gone_row *row);

/* Once for each index version.  @thread any */
void cascades_mark(struct cascades *c, const struct target *target, const char *reason);

/* The turnstile of an index, borrowed while c is there.  @thread any */
struct turnstile *cascades_turnstile(struct cascades *c, struct str index) RETURNS_NONNULL;

/* What is followed, in batches, without what the stream has not come to.  @thread any */
size_t cascades_pending(struct cascades *c);
/* More than a few rows, or documents of other indexes, wait for this one.  @thread any */
bool cascades_wait_for(struct cascades *c, struct str index);

#endif
