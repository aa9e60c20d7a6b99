/*
 * struct fills: the buckets that this node fills.
 *
 * Only the holder of admin_lock adds and removes fills, so it may use those that it finds.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_FILL_FILLS_H
#define REBALANCE_FILL_FILLS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fills;
struct index_fill;

struct fills *fills_new(void) RETURNS_NONNULL MUST_CHECK;
void fills_free(struct fills *all); /* NULL is fine; after all fills were removed */

/* Belongs to the list from now on.  Under admin_lock. */
void fills_add(struct fills *all, struct index_fill *f);
bool fills_has(struct fills *all, uint64_t job) MUST_CHECK;
/* The number of fills of a version that run.  An empty alias: of all. */
size_t fills_n(struct fills *all, struct str alias, uint64_t number);
/* Call the function for each fill, under the lock. */
void fills_each(struct fills *all, void (*call)(void *ctx, struct index_fill *f), void *ctx);
/*
 * Stop and free the fills that match, at the same time, and wait for them.  Blocks.  Under
 * admin_lock.
 */
void fills_remove(struct fills *all, bool (*match)(void *ctx, const struct index_fill *f),
                  void *ctx);

/* The fill has ended by itself.  @thread the fill's */
void fills_note_end(struct fills *all, const struct index_fill *f);
/* Free those that ended, and return their number.  Under admin_lock. */
size_t fills_reap(struct fills *all);

/*
 * Stop and free those on a node that does not follow the topic that have written nothing for
 * long.  Blocks.  Under admin_lock.
 */
void fills_remove_stalled(struct fills *all);
/* Leave the version to others for a while. */
void fills_avoid(struct fills *all, struct str alias, uint64_t number);
/* Whether a fill of the version has stalled or given up here lately, where others may go on. */
bool fills_avoids(struct fills *all, struct str alias, uint64_t number) MUST_CHECK;

/* Whether a delayed run goes on, on whichever node: there may be parts. */
void fills_note_run(struct fills *all, bool is_there);
bool fills_have_run(struct fills *all) MUST_CHECK;

/* There may be buckets that nobody fills. */
void fills_look_again(struct fills *all);
/* Whether there may be; asked once, it is not due before the next call or a second. */
bool fills_is_due(struct fills *all) MUST_CHECK;

#endif
