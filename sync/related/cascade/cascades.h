/*
 * struct cascades: follows what foreign keys change by themselves
 * (sync/routing/cascade_plan.h).
 *
 * This is the one exception to the rule that nothing is found by asking the index: when the
 * builder reads the parent's event, the children are gone.  So, separately for each index
 * version, the thread waits until all work begun for it earlier is over (a turnstile),
 * refreshes the index, searches it for documents that show the parent's key, and has each of
 * these re-read by key.
 *
 * A document stays if its row is gone and others may have gone with it, because only its keys
 * find those.  Its key goes into the store (src/store/later/gone.h); then whatever requested
 * the read is done.  When the stream has reached the log's end at the time of that read, the
 * log has told everything that went along, and a sweep takes up all such documents.  It finds
 * what they lead to by their keys and has that re-read; documents found that are gone and lead
 * on join the sweep, level after level, each document once.  When no more are found, the sweep
 * deletes all of them, and then their stored keys.  A kill at any moment leaves the keys, and
 * the next start re-reads their rows.
 *
 * If a key changes what finds a child's document, the child also joins another document, which
 * does not show it yet.  Whoever reports the parent has SQL find that one first
 * (change_moved()).
 *
 * If a key's column is not in the documents, or cannot be searched, the index version is marked
 * for verification.
 *
 * The turnstile does not know of rows that other nodes read for a version that is being built.
 * So each search of such an index is stored before it begins, and the build repeats it when all
 * rows are written (src/store/later/kept_search.h).
 *
 * @thread as each function says
 */
#ifndef SYNC_RELATED_CASCADE_CASCADES_H
#define SYNC_RELATED_CASCADE_CASCADES_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/related/cascade/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cascades;
struct delivery;
struct gone_row;
struct read_position;
struct search;
struct store;
struct dirty_set;
struct grace_period;

struct cascades_options { /* all borrowed */
    const char *topic;
    struct search *search;
    struct delivery *delivery;
    struct read_position *reader;
    struct store *store;
    uint64_t term;
    bool keeps; /* other nodes fill versions: keep what is searched there meanwhile */
    void *ctx;
    /*
     * Documents of the target may be stale from now on; durable on return.  @thread builder,
     * cascade
     */
    void (*mark)(void *ctx, const struct target *target, const char *reason);
    /* Whether all of the log so far is worked off while the stream runs.  @thread cascade */
    bool (*is_at_rest)(void *ctx);
};

struct cascades *cascades_new(const struct cascades_options *opt) RETURNS_NONNULL MUST_CHECK;
void cascades_start(struct cascades *c);
/* Continue no sweep; what the stream requested still runs.  @thread any */
void cascades_rest(struct cascades *c);
/* Stop and join the thread.  Work not begun is abandoned. */
void cascades_stop(struct cascades *c);
void cascades_free(struct cascades *c); /* NULL is allowed */

/*
 * Use this routing, and give each of its targets the turnstile of its index.  @thread builder
 */
void cascades_set_routing(struct cascades *c, struct routing *routing);

/*
 * Follow a changed row. keys and holds are for the effect's keys and steps; takes over the
 * holds.  Never waits.  @thread any
 */
void cascades_add(struct cascades *c, const struct cascade_origin *from, const struct str *keys,
                  const struct cascade_hold *holds);

/* Tell whether more rows wait than should. */
bool cascades_is_full(const struct cascades *c);
/* Wait while too many rows do.  @thread builder, with nothing gathered */
void cascades_wait(struct cascades *c);

/*
 * Tell whether foreign keys delete rows of the target's root, and with them other rows, without
 * events.
 */
bool cascades_lead_on(struct cascades *c, const struct target *target);
/* Keep the document of such a root: a read did not find its row.  Never waits.  @thread any */
void cascades_gone(struct cascades *c, const struct gone_row *row);

/* Mark an index version as possibly stale, once.  @thread any */
void cascades_mark(struct cascades *c, const struct target *target, const char *reason);

/* Returns the turnstile of an index, borrowed as long as c.  @thread any */
struct grace_period *cascades_grace_period(struct cascades *c,
                                           struct str index) RETURNS_NONNULL;

/* Count the stream's batches being followed, and the documents not stored yet.  @thread any */
size_t cascades_pending(struct cascades *c);
/*
 * Tell whether more than a few rows, or documents of a sweep, wait for this index.  @thread any
 */
bool cascades_wait_for(struct cascades *c, struct str index);

/*
 * Count the documents of an index ("orders_v2"; empty: of all) that stay because their rows are
 * gone, or may be.  @thread any
 */
size_t cascades_stay(struct cascades *c, struct str index);
/*
 * Tell whether any stay in any index, or may: those of an earlier run are not known until they
 * are loaded.  Each may lead to documents of other indexes that nobody has looked for yet.
 * @thread any
 */
bool cascades_may_stay(struct cascades *c);
/*
 * Returns when the oldest such document of any version of the alias was found, in wall time:
 * all found earlier are done.  INT64_MAX: there is none; 0: not known yet.  @thread any
 */
int64_t cascades_oldest_ms(struct cascades *c, struct str alias);
/* Count the documents of an index ("orders_v2") that stay as touched.  @thread any */
void cascades_touch(struct cascades *c, struct str index, struct dirty_set *t);

#endif
