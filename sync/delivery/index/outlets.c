#include "config.h"

#include "sync/delivery/index/outlets.h"

#include "src/base/mem.h"

#include <stdlib.h>

void outlets_init(struct outlets *all)
{
    *all = (struct outlets){.by_index = map_new()};
}

void outlets_fini(struct outlets *all)
{
    map_free(all->by_index, NULL);
    for (size_t i = 0; i < all->n; i++)
        outlet_free(all->items[i]);
    free(all->items);
}

struct outlet *outlets_find(struct outlets *all, struct str index)
{
    if (all->last != NULL && str_equal(outlet_index(all->last), index))
        return all->last;

    struct outlet *o = map_find(all->by_index, index);

    if (o != NULL)
        all->last = o;
    return o;
}

void outlets_add(struct outlets *all, struct outlet *o)
{
    map_put(all->by_index, outlet_index(o), o);
    all->items = mem_resize(all->items, all->n + 1, sizeof(*all->items));
    all->items[all->n++] = o;
    all->last = o;
}
