#include "config.h"

#include "sync/delivery/index/purge.h"

#include "src/base/random.h"

static bool may_give(const struct purge_place *p)
{
    return p->is_blown && p->take < p->n;
}

/* Choose a place that can give, at random; NULL: none can. */
static struct purge_place *choose(struct purge_place *places, size_t n, struct random *r)
{
    struct purge_place *chosen = NULL;
    size_t n_seen = 0;

    for (size_t i = 0; i < n; i++)
        if (may_give(&places[i]) && random_below(r, ++n_seen) == 0)
            chosen = &places[i];
    return chosen;
}

size_t purge_choose(enum purge_strategy how, struct purge_place *places, size_t n, size_t over,
                    struct random *r)
{
    struct purge_place *p;
    size_t taken = 0;

    for (size_t i = 0; i < n; i++)
        places[i].take = 0;
    if (how == PURGE_OFF)
        return 0;
    while (taken < over && (p = choose(places, n, r)) != NULL) {
        const size_t more = how == PURGE_ONE ? 1 : p->n;

        p->take += more;
        taken += more;
    }
    /* PURGE_ALL: once one change must go, all go. */
    while (how == PURGE_ALL && taken > 0 && (p = choose(places, n, r)) != NULL) {
        p->take = p->n;
        taken += p->n;
    }
    return taken;
}
