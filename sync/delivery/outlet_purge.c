#include "config.h"

#include "sync/delivery/outlet_parts.h"

#include <assert.h>

size_t outlet_purgeable(const struct outlet *o, enum outlet_share share, unsigned worker)
{
    return worker == OUTLET_ANY ? o->n_may_go[share] : o->lanes[worker].n_may_go[share];
}

/* Whose oldest document is looked for. */
struct wanted {
    struct lane *lane;
    bool lost; /* only of those */
};

static bool may_give(const struct outlet *o, const struct document *doc,
                     const struct wanted *want)
{
    return doc->may_go && (doc->is_lost || !want->lost) && lane_of(o, doc) == want->lane;
}

/* What may not go is put behind the others, so that it is not looked at each time. */
static struct document *oldest_of_lane(struct lane *lane)
{
    struct link *first;

    for (size_t i = 0; i < lane->n && (first = list_first(&lane->ready)) != NULL; i++) {
        if (LIST_ITEM(first, struct document, link)->may_go)
            return LIST_ITEM(first, struct document, link);
        list_remove(first);
        list_push_back(&lane->ready, first);
    }
    return NULL;
}

static struct document *find_listed(const struct outlet *o, const struct link *list,
                                    const struct wanted *want)
{
    LIST_EACH(l, list)
    if (may_give(o, LIST_ITEM(l, struct document, link), want))
        return LIST_ITEM(l, struct document, link);
    return NULL;
}

/* Among those that wait apart. */
static struct document *find_apart(const struct outlet *o, const struct wanted *want)
{
    struct document *doc = NULL;

    LIST_EACH(l, &o->parkings)
    if (doc == NULL)
        doc = find_listed(o, &LIST_ITEM(l, struct parking, link)->docs, want);
    LIST_EACH(l, &o->parcels)
    {
        const struct parcel *p = LIST_ITEM(l, struct parcel, link);

        for (size_t i = 0; doc == NULL && i < p->n; i++)
            if (may_give(o, p->docs[i], want))
                doc = p->docs[i];
    }
    return doc;
}

/* Lost documents wait apart, all of them. */
static struct document *find_oldest(const struct outlet *o, const struct wanted *want)
{
    struct document *doc = NULL;

    if (!want->lost)
        doc = oldest_of_lane(want->lane);
    if (doc == NULL && !want->lost)
        doc = find_listed(o, &o->loads, want);
    return doc != NULL ? doc : find_apart(o, want);
}

struct document *outlet_take_oldest(struct outlet *o, enum outlet_share share, unsigned worker)
{
    struct document *doc;

    if (outlet_purgeable(o, share, worker) == 0)
        return NULL;
    while (worker == OUTLET_ANY) {
        const unsigned next = o->next_to_purge++ % o->opt.workers;

        if (o->lanes[next].n_may_go[share] > 0)
            worker = next;
    }
    doc = find_oldest(
        o, &(struct wanted){.lane = &o->lanes[worker], .lost = share == SHARE_LOST});
    assert(doc != NULL);
    outlet_remove(o, doc);
    return doc;
}
