#include "config.h"

#include "rebalance/trees/tree_batch.h"

#include "rebalance/trees/tree_page.h"
#include "src/base/mem.h"

#include <stdlib.h>

void tree_batch_free(struct tree_batch *b)
{
    free(b->changes);
    *b = (struct tree_batch){0};
}

void tree_batch_add(struct tree_batch *b, const struct tree_id *id, uint64_t hash, bool is_gone)
{
    if (b->n == b->room) {
        b->room = b->room > 0 ? 2 * b->room : 16;
        b->changes = mem_resize(b->changes, b->room, sizeof(*b->changes));
    }
    b->changes[b->n] = (struct tree_change){.id = *id,
                                            .is_gone = is_gone,
                                            .hash = hash,
                                            .spread = tree_id_spread(id->bytes),
                                            .order = b->n};
    b->n++;
}

static int by_bucket(const void *a, const void *b)
{
    const struct tree_change *x = a, *y = b;
    const int ids = tree_id_order(&x->id, &y->id);

    if (x->spread != y->spread)
        return x->spread < y->spread ? -1 : 1;
    if (ids != 0)
        return ids;
    return x->order < y->order ? -1 : 1;
}

void tree_batch_sort(struct tree_batch *b)
{
    if (b->n > 1)
        qsort(b->changes, b->n, sizeof(*b->changes), by_bucket);
}

size_t tree_batch_run(const struct tree_batch *b, size_t at, uint32_t n_buckets)
{
    const uint32_t bucket = tree_bucket_of(b->changes[at].id.bytes, n_buckets);
    size_t n = 1;

    while (at + n < b->n && tree_bucket_of(b->changes[at + n].id.bytes, n_buckets) == bucket)
        n++;
    return n;
}
