/*
 * struct outlets: an outlet for each index that anything was ever written to, in turn.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_OUTLETS_H
#define SYNC_DELIVERY_OUTLETS_H

#include "src/base/base.h"
#include "src/base/map.h"
#include "src/base/str.h"
#include "sync/delivery/outlet.h"

#include <stddef.h>

struct outlets {
    struct outlet **items; /* never one less */
    size_t n;
    size_t turn; /* the outlet whose turn it is, modulo n */
    struct map *by_index;
    struct outlet *last; /* that was found; most writes go where the one before went */
};

void outlets_init(struct outlets *all);
void outlets_fini(struct outlets *all); /* frees them, too */

/* NULL: nothing was written to that index. */
struct outlet *outlets_find(struct outlets *all, struct str index);
/* Takes over o, whose index has none. */
void outlets_add(struct outlets *all, struct outlet *o);

/* The i-th in turn, i < n: each comes first at times. */
static inline struct outlet *outlets_at(const struct outlets *all, size_t i)
{
    return all->items[(all->turn + i) % all->n];
}

#endif
