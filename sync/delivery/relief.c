#include "config.h"

#include "sync/delivery/relief.h"

#include "src/base/mem.h"
#include "src/base/random.h"
#include "sync/delivery/mark.h"
#include "sync/delivery/outlet.h"
#include "sync/delivery/purge.h"
#include "sync/delivery/purged.h"

#include <assert.h>
#include <stdlib.h>

#define BYTES_STEP 16 /* changes at a time where bytes are too many */

struct relief {
    const struct delivery_options *opt;
    const struct mark *mark;
    struct purged *purged;
    struct random random;
    struct purge_place *places; /* scratch, one for each outlet */
    size_t n_places;
    size_t bytes;                     /* on their way to the store */
    size_t going[MARK_WORKERS_MAX]; /* changes, likewise */
};

struct relief *relief_new(const struct delivery_options *opt, const struct mark *mark,
                          uint64_t seed)
{
    struct relief *r = mem_alloc(1, sizeof(*r));

    r->opt = opt;
    r->mark = mark;
    r->purged = purged_new(opt, seed);
    random_init(&r->random, seed);
    return r;
}

void relief_free(struct relief *r)
{
    if (r == NULL)
        return;
    purged_free(r->purged);
    free(r->places);
    free(r);
}

bool relief_can_purge(const struct relief *r)
{
    return r->opt->purged != NULL;
}

static bool is_off(const struct relief *r)
{
    return r->opt->purge == PURGE_OFF || !relief_can_purge(r);
}

/* As callers wait: where a batch is one document, above none. */
static size_t high(const struct relief *r)
{
    if (r->opt->high_water_mark == DELIVERY_MARK_ZERO)
        return 0;
    return r->opt->batch_min == 1 && r->opt->batch_max == 1 ? 0 : r->opt->high_water_mark;
}

void relief_purge(struct relief *r, struct document *doc)
{
    const size_t cost = write_held(doc->now);

    document_purge(doc);
    doc->queued_bytes = (uint32_t)(cost < UINT32_MAX ? cost : UINT32_MAX);
    r->bytes += doc->queued_bytes;
    r->going[doc->now->worker] += !doc->now->aside;
    purged_add(r->purged, doc);
}

/* What is there when it is to be tried is what it is tried with. */
static bool takes_nothing(struct outlet *o, int64_t now_ms)
{
    const struct gate *gate = outlet_gate(o);

    return gate_is_blown(gate) && !outlet_is_gone(o) &&
           gate_opens_at(gate, outlet_level(o).requests) > now_ms;
}

/* It is known for long that lost documents fail while others go through. */
static bool takes_part(struct outlet *o)
{
    return outlet_is_told(o) && !gate_is_blown(outlet_gate(o)) && !outlet_is_gone(o);
}

static enum outlet_share share_of(struct outlet *o)
{
    return takes_part(o) ? SHARE_LOST : SHARE_ALL;
}

/* Of one worker, or of OUTLET_ANY: as many as the strategy says, at least `over`. */
static size_t purge_some(struct relief *r, const struct relief_outlets *outlets,
                         unsigned worker, size_t over, int64_t now_ms)
{
    size_t n;

    if (r->n_places < outlets->n)
        r->places = mem_resize(r->places, outlets->n, sizeof(*r->places));
    r->n_places = outlets->n;
    for (size_t i = 0; i < outlets->n; i++) {
        struct outlet *o = outlets->items[i];

        r->places[i] = (struct purge_place){.is_blown = takes_part(o) || takes_nothing(o, now_ms),
                                            .n = outlet_purgeable(o, share_of(o), worker)};
    }
    n = purge_choose(r->opt->purge, r->places, outlets->n, over, &r->random);
    for (size_t i = 0; n > 0 && i < outlets->n; i++)
        for (size_t k = 0; k < r->places[i].take; k++)
            relief_purge(r, outlet_take_oldest(outlets->items[i], share_of(outlets->items[i]), worker));
    return n;
}

static size_t too_many(const struct relief *r, unsigned worker)
{
    const size_t n = mark_count(r->mark, worker) - r->going[worker];

    return n > high(r) ? n - high(r) : 0;
}

void relief_worker(struct relief *r, const struct relief_outlets *outlets, unsigned worker,
                   int64_t now_ms)
{
    const size_t over = is_off(r) ? 0 : too_many(r, worker);

    if (over > 0)
        (void)purge_some(r, outlets, worker, over, now_ms);
}

/* Some room at once, so that not each change that comes needs a purge of its own. */
static void relieve_bytes(struct relief *r, const struct relief_outlets *outlets, size_t over,
                          int64_t now_ms)
{
    const size_t goal = r->bytes + over;

    while (r->bytes < goal && purge_some(r, outlets, OUTLET_ANY, BYTES_STEP, now_ms) > 0)
        ;
}

void relief_turn(struct relief *r, const struct relief_outlets *outlets, size_t bytes_over,
                 int64_t now_ms)
{
    for (unsigned i = 0; i < r->opt->workers; i++)
        relief_worker(r, outlets, i, now_ms);
    if (!is_off(r) && bytes_over > 0)
        relieve_bytes(r, outlets, bytes_over, now_ms);
    purged_turn(r->purged, now_ms);
}

struct document *relief_next(struct relief *r)
{
    struct document *doc = purged_next(r->purged);

    if (doc == NULL)
        return NULL;
    r->bytes -= doc->queued_bytes;
    r->going[doc->now->worker] -= !doc->now->aside;
    return doc;
}

size_t relief_bytes(const struct relief *r)
{
    return r->bytes;
}

int64_t relief_wait_ms(const struct relief *r, int64_t now_ms, int64_t max_ms)
{
    return purged_wait_ms(r->purged, now_ms, max_ms);
}
