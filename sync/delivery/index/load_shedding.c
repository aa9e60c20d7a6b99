#include "config.h"

#include "sync/delivery/index/load_shedding.h"

#include "src/base/mem.h"
#include "src/base/random.h"
#include "sync/delivery/index/index_queues.h"
#include "sync/delivery/index/purge.h"
#include "sync/delivery/index/purged.h"
#include "sync/delivery/index/worker_backlog.h"

#include <assert.h>
#include <stdlib.h>

#define BYTES_STEP 16 /* changes to purge at a time if there are too many bytes */

struct load_shedding {
    const struct delivery_options *opt;
    const struct worker_backlog *backlog;
    struct purged *purged;
    struct random random;
    struct purge_place *places; /* scratch, one per index queue */
    size_t n_places;
    size_t bytes;                      /* on their way to the store */
    size_t going[BACKLOG_WORKERS_MAX]; /* changes on their way to the store, by worker */
};

struct load_shedding *load_shedding_new(const struct delivery_options *opt,
                                        const struct worker_backlog *backlog, uint64_t seed)
{
    struct load_shedding *r = mem_alloc(1, sizeof(*r));

    r->opt = opt;
    r->backlog = backlog;
    r->purged = purged_new(opt, seed);
    random_init(&r->random, seed);
    return r;
}

void load_shedding_free(struct load_shedding *r)
{
    if (r == NULL)
        return;
    purged_free(r->purged);
    free(r->places);
    free(r);
}

bool load_shedding_can_purge(const struct load_shedding *r)
{
    return r->opt->purged != NULL;
}

static bool is_off(const struct load_shedding *r)
{
    return r->opt->settings.purge == PURGE_OFF || !load_shedding_can_purge(r);
}

void load_shedding_purge(struct load_shedding *r, struct document *doc)
{
    const size_t cost = write_held(doc->now);

    document_purge(doc);
    doc->queued_bytes = (uint32_t)(cost < UINT32_MAX ? cost : UINT32_MAX);
    r->bytes += doc->queued_bytes;
    r->going[doc->now->worker] += !doc->now->aside;
    purged_add(r->purged, doc);
}

/* Spare an index that is due to be tried: its changes are what it is tried with. */
static bool takes_nothing(struct index_queue *o, int64_t now_ms)
{
    const struct gate *gate = index_queue_gate(o);

    return gate_is_blown(gate) && !index_queue_is_gone(o) &&
           gate_opens_at(gate, index_queue_level(o).requests) > now_ms;
}

/* Tell whether the index was reported to lose documents while others go through. */
static bool takes_part(struct index_queue *o)
{
    return index_queue_is_told(o) && !gate_is_blown(index_queue_gate(o)) &&
           !index_queue_is_gone(o);
}

static bool may_give(struct index_queue *o, int64_t now_ms)
{
    return takes_part(o) || takes_nothing(o, now_ms);
}

static enum index_queue_share share_of(struct index_queue *o)
{
    return takes_part(o) ? SHARE_LOST : SHARE_ALL;
}

/*
 * Purge changes of one worker, or of INDEX_QUEUE_ANY: as many as the strategy says, but at
 * least `over`.
 */
static size_t purge_some(struct load_shedding *r, const struct index_queues *index_queues,
                         unsigned worker, size_t over, int64_t now_ms)
{
    size_t n;

    if (r->n_places < index_queues->n)
        r->places = mem_resize(r->places, index_queues->n, sizeof(*r->places));
    r->n_places = index_queues->n;
    for (size_t i = 0; i < index_queues->n; i++) {
        struct index_queue *o = index_queues->items[i];

        r->places[i] = (struct purge_place){.is_blown = may_give(o, now_ms),
                                            .n = index_queue_purgeable(o, share_of(o), worker)};
    }
    n = purge_choose(r->opt->settings.purge, r->places, index_queues->n, over, &r->random);
    for (size_t i = 0; n > 0 && i < index_queues->n; i++)
        for (size_t k = 0; k < r->places[i].take; k++)
            load_shedding_purge(r, index_queue_take_oldest(index_queues->items[i],
                                                           share_of(index_queues->items[i]),
                                                           worker));
    return n;
}

static size_t too_many(const struct load_shedding *r, unsigned worker)
{
    const size_t n = worker_backlog_count(r->backlog, worker) - r->going[worker];
    const size_t high = worker_backlog_high(r->backlog);

    return n > high ? n - high : 0;
}

void load_shedding_worker(struct load_shedding *r, const struct index_queues *index_queues,
                          unsigned worker, int64_t now_ms)
{
    const size_t over = is_off(r) ? 0 : too_many(r, worker);

    if (over > 0)
        (void)purge_some(r, index_queues, worker, over, now_ms);
}

/* Free some bytes in one go, so that not every new change needs a purge of its own. */
static void relieve_bytes(struct load_shedding *r, const struct index_queues *index_queues,
                          size_t over, int64_t now_ms)
{
    const size_t goal = r->bytes + over;

    while (r->bytes < goal &&
           purge_some(r, index_queues, INDEX_QUEUE_ANY, BYTES_STEP, now_ms) > 0)
        ;
}

/* Only this makes room for another large document. */
static void relieve_large(struct load_shedding *r, const struct index_queues *index_queues,
                          int64_t now_ms)
{
    struct document *doc;

    for (size_t i = 0; i < index_queues->n; i++) {
        struct index_queue *o = index_queues->items[i];

        while (may_give(o, now_ms) && (doc = index_queue_take_large(o, share_of(o))) != NULL)
            load_shedding_purge(r, doc);
    }
}

/* A paused index takes no room from the others, however long that lasts. */
static void relieve_paused(struct load_shedding *r, const struct index_queues *index_queues)
{
    struct document *doc;

    for (size_t i = 0; load_shedding_can_purge(r) && i < index_queues->n; i++) {
        struct index_queue *o = index_queues->items[i];

        while (index_queue_gate(o)->is_paused &&
               (doc = index_queue_take_oldest(o, SHARE_ALL, INDEX_QUEUE_ANY)) != NULL)
            load_shedding_purge(r, doc);
    }
}

void load_shedding_turn(struct load_shedding *r, const struct index_queues *index_queues,
                        const struct load_shedding_need *need, int64_t now_ms)
{
    relieve_paused(r, index_queues);
    for (unsigned i = 0; i < r->opt->settings.workers; i++)
        load_shedding_worker(r, index_queues, i, now_ms);
    if (!is_off(r) && need->bytes_over > 0)
        relieve_bytes(r, index_queues, need->bytes_over, now_ms);
    if (!is_off(r) && need->large)
        relieve_large(r, index_queues, now_ms);
    purged_turn(r->purged, now_ms);
}

struct document *load_shedding_next(struct load_shedding *r)
{
    struct document *doc = purged_next(r->purged);

    if (doc == NULL)
        return NULL;
    r->bytes -= doc->queued_bytes;
    r->going[doc->now->worker] -= !doc->now->aside;
    return doc;
}

size_t load_shedding_bytes(const struct load_shedding *r)
{
    return r->bytes;
}

int64_t load_shedding_wait_ms(const struct load_shedding *r, int64_t now_ms, int64_t max_ms)
{
    return purged_wait_ms(r->purged, now_ms, max_ms);
}
