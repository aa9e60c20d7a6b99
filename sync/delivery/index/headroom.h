/*
 * struct headroom: how large a request the engine takes.
 *
 * A 429 for a single document means either that it is too large or that the engine is busy.  If
 * smaller requests were taken since, and none as large, it is the size.  If nothing was taken
 * since, or something as large, it is the load.
 *
 * Keeps each taken request that no later one equals in size, up to HEADROOM_KEPT of them.
 * Beyond that, small requests are recorded as larger than they were.
 *
 * Pure.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_INDEX_HEADROOM_H
#define SYNC_DELIVERY_INDEX_HEADROOM_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

#define HEADROOM_KEPT 16

struct headroom_taken {
    uint64_t number; /* counts taken requests, from 1 */
    size_t bytes;
};

/* Zero-initialise. */
struct headroom {
    uint64_t n_taken;
    size_t n_kept;
    struct headroom_taken kept[HEADROOM_KEPT]; /* each later and smaller than the one before */
};

/* Record that the engine took a request of this size. */
void headroom_take(struct headroom *h, size_t bytes);
/* Return a mark for headroom_since(). */
uint16_t headroom_mark(const struct headroom *h);
/*
 * Return the size of the largest request taken since the mark; 0: none.  Fewer than 65,536
 * requests may have been taken since.
 */
size_t headroom_since(const struct headroom *h, uint16_t mark);

#endif
