/*
 * struct outlets: the outlets of all indexes ever written to, served in turn.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_INDEX_OUTLETS_H
#define SYNC_DELIVERY_INDEX_OUTLETS_H

#include "src/base/base.h"
#include "src/base/map.h"
#include "src/base/str.h"
#include "sync/delivery/index/outlet.h"

#include <stddef.h>

struct outlets {
    struct outlet **items; /* none is ever removed */
    size_t n;
    size_t sends, loads; /* the outlet whose turn it is, modulo n */
    struct map *by_index;
    struct outlet *last; /* last found: most writes go to the same index as the one before */
};

void outlets_init(struct outlets *all);
void outlets_fini(struct outlets *all); /* frees the outlets, too */

/* Returns NULL if nothing was ever written to that index. */
struct outlet *outlets_find(struct outlets *all, struct str index);
/* Takes over o.  Its index must not have an outlet yet. */
void outlets_add(struct outlets *all, struct outlet *o);

/*
 * Return the i-th outlet, i < n, counted from the one whose turn it is.  After an outlet was
 * served, the turn moves to the one behind it, so each waits for n others at most.
 */
static inline struct outlet *outlets_at(const struct outlets *all, size_t turn, size_t i)
{
    return all->items[(turn + i) % all->n];
}

#endif
