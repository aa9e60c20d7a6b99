#include "config.h"

#include "sync/seek.h"

#include "sync/delivery/target.h"
#include "sync/document/plan.h"
#include "sync/routing.h"

struct seek seek_from(const struct target *t, size_t place)
{
    const struct plan *p = ((const struct reading *)t->plan)->plan;

    return (struct seek){.shards = t->shards,
                         .n_shards = plan_place_leads(p, place) ? t->n_shards : 0,
                         .by_path = plan_is_routed_by_path(p)};
}

static bool is_told(const struct seek *s, struct str told)
{
    return !s->by_path || told.len > 0;
}

size_t seek_count(const struct seek *s, struct str told)
{
    return s->n_shards + is_told(s, told);
}

struct str seek_at(const struct seek *s, struct str told, size_t i)
{
    return i < s->n_shards ? s->shards[i] : told;
}
