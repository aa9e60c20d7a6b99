#include "config.h"

#include "sync/delivery/index/headroom.h"

void headroom_take(struct headroom *h, size_t bytes)
{
    while (h->n_kept > 0 && h->kept[h->n_kept - 1].bytes <= bytes)
        h->n_kept--;
    if (h->n_kept == HEADROOM_KEPT)
        bytes = h->kept[--h->n_kept].bytes;
    h->kept[h->n_kept++] = (struct headroom_taken){++h->n_taken, bytes};
}

uint16_t headroom_mark(const struct headroom *h)
{
    return (uint16_t)h->n_taken;
}

size_t headroom_since(const struct headroom *h, uint16_t mark)
{
    const uint64_t before = h->n_taken - (uint16_t)(h->n_taken - mark);

    for (size_t i = 0; i < h->n_kept; i++)
        if (h->kept[i].number > before)
            return h->kept[i].bytes;
    return 0;
}
