#include "config.h"

#include "sync/delivery/index/index_queues.h"

#include "src/base/mem.h"

#include <stdlib.h>

void index_queues_init(struct index_queues *all)
{
    *all = (struct index_queues){.by_index = map_new()};
}

void index_queues_fini(struct index_queues *all)
{
    map_free(all->by_index, NULL);
    for (size_t i = 0; i < all->n; i++)
        index_queue_free(all->items[i]);
    free(all->items);
}

struct index_queue *index_queues_find(struct index_queues *all, struct str index)
{
    if (all->last != NULL && str_equal(index_queue_index(all->last), index))
        return all->last;

    struct index_queue *o = map_find(all->by_index, index);

    if (o != NULL)
        all->last = o;
    return o;
}

void index_queues_add(struct index_queues *all, struct index_queue *o)
{
    map_put(all->by_index, index_queue_index(o), o);
    all->items = mem_resize(all->items, all->n + 1, sizeof(*all->items));
    all->items[all->n++] = o;
    all->last = o;
}
