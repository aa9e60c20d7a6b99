/*
 * struct index_queues: the index queues of all indexes ever written to, served in turn.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_INDEX_INDEX_QUEUES_H
#define SYNC_DELIVERY_INDEX_INDEX_QUEUES_H

#include "src/base/base.h"
#include "src/base/map.h"
#include "src/base/str.h"
#include "sync/delivery/index/index_queue.h"

#include <stddef.h>

struct index_queues {
    struct index_queue **items; /* none is ever removed */
    size_t n;
    size_t sends, loads; /* the index queue whose turn it is, modulo n */
    struct map *by_index;
    struct index_queue
        *last; /* last found: most writes go to the same index as the one before */
};

void index_queues_init(struct index_queues *all);
void index_queues_fini(struct index_queues *all); /* frees the index queues, too */

/* Returns NULL if nothing was ever written to that index. */
struct index_queue *index_queues_find(struct index_queues *all, struct str index);
/* Takes over o.  Its index must not have an index queue yet. */
void index_queues_add(struct index_queues *all, struct index_queue *o);

/*
 * Return the i-th index queue, i < n, counted from the one whose turn it is.  After an index
 * queue was served, the turn moves to the one behind it, so each waits for n others at most.
 */
static inline struct index_queue *index_queues_at(const struct index_queues *all, size_t turn,
                                                  size_t i)
{
    return all->items[(turn + i) % all->n];
}

#endif
