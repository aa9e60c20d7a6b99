#include "config.h"

#include "rebalance/member/orders.h"

#include "src/base/arena.h"
#include "src/base/lock.h"
#include "src/base/mem.h"

#include <stdlib.h>

struct orders {
    struct lock lock;
    struct name_set things[CLUSTER_END + 1]; /* by wish; guarded by lock */
};

struct orders *orders_new(void)
{
    struct orders *o = mem_alloc(1, sizeof(*o));

    lock_init(&o->lock, LOCK_private);
    return o;
}

void orders_free(struct orders *o)
{
    for (size_t i = 0; i < ARRAY_LEN(o->things); i++)
        name_set_free(&o->things[i]);
    lock_fini(&o->lock);
    free(o);
}

void orders_put(struct orders *o, struct str thing, enum cluster_wish wish)
{
    lock_acquire(&o->lock);
    for (size_t i = 0; i < ARRAY_LEN(o->things); i++)
        (void)name_set_remove(&o->things[i], thing);
    (void)name_set_add(&o->things[wish], thing);
    lock_release(&o->lock);
}

enum cluster_wish orders_wish(struct orders *o, struct str thing)
{
    enum cluster_wish wish = CLUSTER_END;

    lock_acquire(&o->lock);
    while (wish != CLUSTER_NOT_OURS && !name_set_has(&o->things[wish], thing))
        wish--;
    lock_release(&o->lock);
    return wish;
}

size_t orders_all(struct orders *o, struct arena *a, struct cluster_order **out)
{
    size_t n = 0;

    lock_acquire(&o->lock);
    for (size_t i = 0; i < ARRAY_LEN(o->things); i++)
        n += o->things[i].n;
    *out = arena_alloc(a, n + 1, sizeof(**out));
    n = 0;
    for (size_t i = 0; i < ARRAY_LEN(o->things); i++)
        for (size_t k = 0; k < o->things[i].n; k++)
            (*out)[n++] = (struct cluster_order){arena_copy(a, o->things[i].list[k]),
                                                 (enum cluster_wish)i};
    lock_release(&o->lock);
    return n;
}

bool orders_end(struct orders *o, struct str thing)
{
    lock_acquire(&o->lock);

    const bool was_asked = name_set_remove(&o->things[CLUSTER_GIVE_BACK], thing) ||
                           name_set_remove(&o->things[CLUSTER_END], thing);

    lock_release(&o->lock);
    return was_asked;
}

bool orders_refuse(struct orders *o, struct str thing)
{
    lock_acquire(&o->lock);

    const bool was_ours = name_set_remove(&o->things[CLUSTER_WORK], thing);

    lock_release(&o->lock);
    return was_ours;
}
