#include "config.h"

#include "sync/delivery/outlet.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/delivery/bulk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define GATHER_MS    50 /* a further request waits no longer than this for more documents */
#define SAMPLE       20 /* documents of a probe when most were refused, or all requests failed */
#define LOADS_LOOKED_AT 16 /* times as many as are taken, for those that can be read together \
                            */
#define NEVER_MS     GATE_NEVER_MS

enum place {
    PLACE_NONE = 0,
    PLACE_LANE,
    PLACE_LOADS,
    PLACE_PARKED,
    PLACE_PARCEL,
};

struct lane {
    struct link ready;
    size_t n, bytes;
    int64_t since_ms; /* about when the first of them came */
    uint64_t batch;   /* serial of the one in flight, 0: none */
    size_t n_may_go;  /* documents of the worker, wherever they wait, that may be purged */
};

/* A batch that is already made up. */
struct parcel {
    struct link link;
    struct bisect *bisect;
    size_t n;
    struct document *docs[]; /* NULL: was removed */
};

struct parking {
    struct link link;
    struct link docs;
    int64_t due_ms;
};

struct outlet {
    char *index;
    struct outlet_options opt;
    struct target *target;
    struct buf path; /* of requests to it */
    struct index_metric *metric;
    struct lane *lanes;
    unsigned next_lane;
    unsigned withheld; /* a lane, or OUTLET_ALL or OUTLET_NONE */
    unsigned next_to_purge; /* lane */
    size_t n_may_go;
    uint64_t last_serial;
    struct link loads;
    struct link parcels;
    struct link parkings;
    struct outlet_level level;
    struct gate gate;
    struct pace pace;
    bool is_gone, is_told;
    struct outlet_purged purged;
    int64_t no_areas_until_ms;
};

static struct lane *new_lanes(unsigned n)
{
    struct lane *lanes = mem_alloc(n, sizeof(*lanes));

    for (unsigned i = 0; i < n; i++)
        list_init(&lanes[i].ready);
    return lanes;
}

struct outlet *outlet_new(struct str index, const struct outlet_options *opt, uint64_t seed)
{
    struct outlet *o = mem_alloc(1, sizeof(*o));
    struct limiter limiter;

    assert(opt->workers > 0 && opt->width_max > 0 && opt->batch_min > 0);
    o->index = mem_alloc(index.len + 1, 1);
    memcpy(o->index, index.ptr, index.len);
    o->opt = *opt;
    o->lanes = new_lanes(opt->workers);
    o->withheld = OUTLET_NONE;
    list_init(&o->loads);
    list_init(&o->parcels);
    list_init(&o->parkings);
    limiter_init(&limiter, opt->batch_bytes, opt->width_max);
    gate_init(&o->gate, &limiter, &opt->fuse, seed);
    return o;
}

static void free_parcel(struct parcel *p)
{
    if (p->bisect != NULL && bisect_close(p->bisect))
        bisect_free(p->bisect);
    free(p);
}

void outlet_free(struct outlet *o)
{
    if (o == NULL)
        return;
    LIST_EACH(l, &o->parcels)
    free_parcel(LIST_ITEM(l, struct parcel, link));
    LIST_EACH(l, &o->parkings)
    free(LIST_ITEM(l, struct parking, link));
    target_unref(o->target);
    buf_free(&o->path);
    free(o->lanes);
    free(o->index);
    free(o);
}

struct str outlet_index(const struct outlet *o)
{
    return str_from(o->index);
}

void outlet_set_target(struct outlet *o, struct target *t)
{
    if (o->target == t)
        return;
    target_unref(o->target);
    o->target = target_ref(t);
    buf_clear(&o->path);
    bulk_path(&o->path, str_from(t->write_alias));
}

struct target *outlet_target(const struct outlet *o)
{
    return o->target;
}

struct str outlet_path(const struct outlet *o)
{
    return buf_str(&o->path);
}

struct gate *outlet_gate(struct outlet *o)
{
    return &o->gate;
}

struct pace *outlet_pace(struct outlet *o)
{
    return &o->pace;
}

struct outlet_level outlet_level(const struct outlet *o)
{
    return o->level;
}

void outlet_count_overdue(struct outlet *o, int n)
{
    o->level.overdue += (unsigned)n;
}

void outlet_set_metric(struct outlet *o, struct index_metric *metric)
{
    o->metric = metric;
}

struct index_metric *outlet_metric(const struct outlet *o)
{
    return o->metric;
}

enum hold outlet_held(const struct outlet *o)
{
    return o->gate.hold;
}

void outlet_set_told(struct outlet *o, bool told)
{
    o->is_told = told;
}

bool outlet_is_told(const struct outlet *o)
{
    return o->is_told;
}

struct outlet_purged *outlet_purged(struct outlet *o)
{
    return &o->purged;
}

void outlet_drop(struct outlet *o)
{
    o->is_gone = true;
}

bool outlet_is_gone(const struct outlet *o)
{
    return o->is_gone;
}

void outlet_refuse_areas(struct outlet *o, int64_t until_ms)
{
    o->no_areas_until_ms = until_ms;
}

bool outlet_takes_areas(const struct outlet *o, int64_t now_ms)
{
    return now_ms >= o->no_areas_until_ms;
}

static struct lane *lane_of(const struct outlet *o, const struct document *doc)
{
    return &o->lanes[doc->hash % o->opt.workers];
}

static void set_may_go(struct outlet *o, struct document *doc, bool may_go)
{
    if (doc->may_go == may_go)
        return;
    doc->may_go = may_go;
    lane_of(o, doc)->n_may_go += may_go ? 1 : SIZE_MAX;
    o->n_may_go += may_go ? 1 : SIZE_MAX;
}

static void enter_lane(struct outlet *o, struct document *doc, int64_t now_ms, bool first)
{
    struct lane *lane = lane_of(o, doc);

    if (lane->n == 0)
        lane->since_ms = now_ms;
    if (first)
        list_push_front(&lane->ready, &doc->link);
    else
        list_push_back(&lane->ready, &doc->link);
    doc->queued_bytes = (uint32_t)bulk_size(doc->now);
    doc->place = PLACE_LANE;
    lane->n++;
    lane->bytes += doc->queued_bytes;
    o->level.ready++;
}

static void leave_lane(struct outlet *o, struct document *doc)
{
    struct lane *lane = lane_of(o, doc);

    list_remove(&doc->link);
    set_may_go(o, doc, false);
    doc->place = PLACE_NONE;
    lane->n--;
    lane->bytes -= doc->queued_bytes;
    o->level.ready--;
}

static void count_may_go(struct outlet *o, const struct document *doc)
{
    lane_of(o, doc)->n_may_go += doc->may_go;
}

static void count_all_may_go(struct outlet *o)
{
    for (unsigned i = 0; i < o->opt.workers; i++)
        LIST_EACH(l, &o->lanes[i].ready)
        count_may_go(o, LIST_ITEM(l, struct document, link));
    LIST_EACH(l, &o->loads)
    count_may_go(o, LIST_ITEM(l, struct document, link));
    LIST_EACH(p, &o->parkings)
    LIST_EACH(l, &LIST_ITEM(p, struct parking, link)->docs)
    count_may_go(o, LIST_ITEM(l, struct document, link));
    LIST_EACH(l, &o->parcels)
    {
        const struct parcel *p = LIST_ITEM(l, struct parcel, link);

        for (size_t i = 0; i < p->n; i++)
            if (p->docs[i] != NULL)
                count_may_go(o, p->docs[i]);
    }
}

/* Each lane's order is kept, and so is that of each document, which waits once at most. */
static void move_to_new_lanes(struct outlet *o, unsigned workers)
{
    struct lane *old = o->lanes;
    const unsigned n_old = o->opt.workers;

    o->lanes = new_lanes(workers);
    o->opt.workers = workers;
    o->next_lane = 0;
    for (unsigned i = 0; i < n_old; i++)
        LIST_EACH(l, &old[i].ready)
        {
            struct document *doc = LIST_ITEM(l, struct document, link);

            list_remove(&doc->link);
            o->level.ready--;
            enter_lane(o, doc, old[i].since_ms, false);
        }
    count_all_may_go(o);
    free(old);
}

void outlet_set_options(struct outlet *o, const struct outlet_options *opt)
{
    assert(opt->workers > 0 && opt->width_max > 0 && opt->batch_min > 0);
    if (opt->workers != o->opt.workers)
        move_to_new_lanes(o, opt->workers);
    if (opt->batch_bytes != o->opt.batch_bytes || opt->width_max != o->opt.width_max)
        limiter_set(&o->gate.limiter, opt->batch_bytes, opt->width_max);
    fuse_set(&o->gate.fuse, &opt->fuse);
    o->opt = *opt;
}

void outlet_withhold(struct outlet *o, unsigned lane)
{
    o->withheld = lane;
}

static void leave_parcel(struct outlet *o, struct document *doc)
{
    LIST_EACH(l, &o->parcels)
    {
        struct parcel *p = LIST_ITEM(l, struct parcel, link);

        for (size_t i = 0; i < p->n; i++) {
            if (p->docs[i] != doc)
                continue;
            p->docs[i] = NULL;
            doc->place = PLACE_NONE;
            o->level.ready--;
            return;
        }
    }
    assert(false);
}

void outlet_remove(struct outlet *o, struct document *doc)
{
    set_may_go(o, doc, false);
    switch ((enum place)doc->place) {
    case PLACE_NONE: return;
    case PLACE_LANE: leave_lane(o, doc); return;
    case PLACE_PARCEL: leave_parcel(o, doc); return;
    case PLACE_LOADS: o->level.load_wait--; break;
    case PLACE_PARKED: o->level.parked--; break;
    }
    list_remove(&doc->link);
    doc->place = PLACE_NONE;
}

static void enter(struct outlet *o, struct document *doc, int64_t now_ms, bool first)
{
    outlet_remove(o, doc);
    if (doc->state != DOCUMENT_LOAD_WAIT) {
        assert(doc->state == DOCUMENT_READY || doc->state == DOCUMENT_UNKNOWN);
        enter_lane(o, doc, now_ms, first);
        set_may_go(o, doc, document_may_be_purged(doc));
        return;
    }
    if (first)
        list_push_front(&o->loads, &doc->link);
    else
        list_push_back(&o->loads, &doc->link);
    doc->place = PLACE_LOADS;
    set_may_go(o, doc, document_may_be_purged(doc));
    o->level.load_wait++;
}

void outlet_place(struct outlet *o, struct document *doc, int64_t now_ms)
{
    enter(o, doc, now_ms, false);
}

void outlet_place_first(struct outlet *o, struct document *doc, int64_t now_ms)
{
    enter(o, doc, now_ms, true);
}

void outlet_resize(struct outlet *o, struct document *doc)
{
    const uint32_t before = doc->queued_bytes;

    if (doc->place != PLACE_NONE)
        set_may_go(o, doc,
                   document_may_be_purged(doc) && (doc->place != PLACE_PARCEL || !doc->is_part));
    if (doc->place != PLACE_LANE && doc->place != PLACE_PARCEL)
        return;
    doc->queued_bytes = (uint32_t)bulk_size(doc->now);
    if (doc->place == PLACE_LANE)
        lane_of(o, doc)->bytes += (size_t)doc->queued_bytes - before;
}

struct parking *outlet_open_parking(struct outlet *o, int64_t due_ms)
{
    struct parking *p = mem_alloc(1, sizeof(*p));

    p->due_ms = due_ms;
    list_init(&p->docs);
    list_push_back(&o->parkings, &p->link);
    return p;
}

void outlet_park(struct outlet *o, struct parking *p, struct document *doc)
{
    assert(doc->place == PLACE_NONE);
    list_push_back(&p->docs, &doc->link);
    doc->place = PLACE_PARKED;
    set_may_go(o, doc, document_may_be_purged(doc));
    o->level.parked++;
}

size_t outlet_purgeable(const struct outlet *o, unsigned worker)
{
    return worker == OUTLET_ANY ? o->n_may_go : o->lanes[worker].n_may_go;
}

static bool may_give(const struct outlet *o, const struct document *doc,
                     const struct lane *lane)
{
    return doc->may_go && lane_of(o, doc) == lane;
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
                                    const struct lane *lane)
{
    LIST_EACH(l, list)
    if (may_give(o, LIST_ITEM(l, struct document, link), lane))
        return LIST_ITEM(l, struct document, link);
    return NULL;
}

/* Among those that wait apart. */
static struct document *find_apart(const struct outlet *o, const struct lane *lane)
{
    struct document *doc = NULL;

    LIST_EACH(l, &o->parkings)
    if (doc == NULL)
        doc = find_listed(o, &LIST_ITEM(l, struct parking, link)->docs, lane);
    LIST_EACH(l, &o->parcels)
    {
        const struct parcel *p = LIST_ITEM(l, struct parcel, link);

        for (size_t i = 0; doc == NULL && i < p->n; i++)
            if (p->docs[i] != NULL && may_give(o, p->docs[i], lane))
                doc = p->docs[i];
    }
    return doc;
}

struct document *outlet_take_oldest(struct outlet *o, unsigned worker)
{
    struct document *doc;

    if (outlet_purgeable(o, worker) == 0)
        return NULL;
    while (worker == OUTLET_ANY) {
        const unsigned next = o->next_to_purge++ % o->opt.workers;

        if (o->lanes[next].n_may_go > 0)
            worker = next;
    }
    doc = oldest_of_lane(&o->lanes[worker]);
    if (doc == NULL)
        doc = find_listed(o, &o->loads, &o->lanes[worker]);
    if (doc == NULL)
        doc = find_apart(o, &o->lanes[worker]);
    assert(doc != NULL);
    outlet_remove(o, doc);
    return doc;
}

static struct parcel *make_parcel(size_t n_max, struct bisect *bisect)
{
    struct parcel *p = mem_alloc(1, sizeof(*p) + n_max * sizeof(p->docs[0]));

    p->bisect = bisect;
    return p;
}

static void put_in_parcel(struct outlet *o, struct parcel *p, struct document *doc)
{
    p->docs[p->n++] = doc;
    doc->queued_bytes = (uint32_t)bulk_size(doc->now);
    doc->place = PLACE_PARCEL;
    doc->is_part = p->bisect != NULL;
    set_may_go(o, doc, !doc->is_part && document_may_be_purged(doc));
    o->level.ready++;
}

/* What was parked is to be read, or sent in a batch of its own. */
static void unpark(struct outlet *o, struct parking *p, int64_t now_ms)
{
    struct parcel *parcel;
    size_t n = 0;

    LIST_EACH(l, &p->docs)
    n++;
    parcel = make_parcel(n, NULL);
    LIST_EACH(l, &p->docs)
    {
        struct document *doc = LIST_ITEM(l, struct document, link);

        outlet_remove(o, doc);
        if (doc->state == DOCUMENT_LOAD_WAIT)
            outlet_place_first(o, doc, now_ms);
        else
            put_in_parcel(o, parcel, doc);
    }
    if (parcel->n > 0)
        list_push_back(&o->parcels, &parcel->link);
    else
        free(parcel);
}

void outlet_turn(struct outlet *o, int64_t now_ms)
{
    LIST_EACH(l, &o->parkings)
    {
        struct parking *p = LIST_ITEM(l, struct parking, link);

        if (p->due_ms > now_ms && !list_is_empty(&p->docs))
            continue;
        unpark(o, p, now_ms);
        list_remove(&p->link);
        free(p);
    }
}

void outlet_split(struct outlet *o, const struct batch *b, size_t from, size_t to,
                  struct bisect *bisect)
{
    struct parcel *p = make_parcel(to - from, bisect);

    for (size_t i = from; i < to; i++) {
        assert(b->docs[i]->place == PLACE_NONE);
        put_in_parcel(o, p, b->docs[i]);
    }
    list_push_back(&o->parcels, &p->link);
}

void outlet_unsplit(struct outlet *o, struct bisect *bisect, int64_t now_ms)
{
    LIST_EACH(l, &o->parcels)
    {
        struct parcel *p = LIST_ITEM(l, struct parcel, link);

        if (p->bisect != bisect)
            continue;
        for (size_t i = 0; i < p->n; i++)
            if (p->docs[i] != NULL)
                outlet_place(o, p->docs[i], now_ms);
        list_remove(&p->link);
        if (bisect_close(bisect))
            assert(false);
        free(p);
    }
}

static bool has_nothing(const struct outlet *o)
{
    return o->level.ready == 0 && list_is_empty(&o->parcels);
}

/* It has something, none of it is in flight, and it may go. */
static bool lane_may_go(const struct outlet *o, unsigned i)
{
    return o->lanes[i].batch == 0 && o->lanes[i].n > 0 && o->withheld != i;
}

/* What the lanes that have no batch in flight hold. */
struct pool {
    size_t n, bytes;
    int64_t since_ms;
};

static struct pool free_pool(const struct outlet *o)
{
    struct pool pool = {.since_ms = NEVER_MS};

    for (unsigned i = 0; i < o->opt.workers; i++) {
        const struct lane *lane = &o->lanes[i];

        if (!lane_may_go(o, i))
            continue;
        pool.n += lane->n;
        pool.bytes += lane->bytes;
        if (lane->since_ms < pool.since_ms)
            pool.since_ms = lane->since_ms;
    }
    return pool;
}

/* When is what the lanes hold worth a request? */
static int64_t worth_at(const struct outlet *o, const struct pool *pool)
{
    if (pool->n == 0)
        return NEVER_MS;
    if (pool->n < o->opt.batch_min)
        return pool->since_ms + o->opt.flush_ms;
    if (o->level.requests == 0 || pool->bytes >= o->gate.limiter.bytes / 2)
        return pool->since_ms;
    if (o->opt.batch_max > 0 && pool->n >= o->opt.batch_max)
        return pool->since_ms;
    return pool->since_ms + GATHER_MS;
}

static void take(struct batch *b, struct document *doc)
{
    if (b->n == b->cap) {
        b->cap = b->cap == 0 ? 64 : b->cap * 2;
        b->docs = mem_resize(b->docs, b->cap, sizeof(*b->docs));
    }
    document_take(doc);
    b->bytes += doc->queued_bytes;
    b->docs[b->n++] = doc;
}

struct batch_limit {
    size_t documents, bytes;
};

/* True: there was room for all of the lane. */
static bool take_lane(struct outlet *o, struct lane *lane, const struct batch_limit *max,
                      struct batch *b)
{
    struct link *l;

    while ((l = list_first(&lane->ready)) != NULL) {
        struct document *doc = LIST_ITEM(l, struct document, link);

        if (b->n == max->documents)
            return false;
        if (b->n > 0 && b->bytes + doc->queued_bytes > max->bytes)
            return false;
        leave_lane(o, doc);
        take(b, doc);
        lane->batch = b->serial;
    }
    return true;
}

/*
 * Of a lot, half of the lanes at most, so that the other half can go at the same time; of a
 * little, all.
 */
static void take_lanes(struct outlet *o, const struct batch_limit *max, int64_t now_ms,
                       struct batch *b)
{
    const bool is_much = free_pool(o).bytes >= o->gate.limiter.bytes / 2;
    const unsigned first = o->next_lane;
    unsigned n_left = is_much ? (o->opt.workers + 1) / 2 : o->opt.workers;

    for (unsigned i = 0; i < o->opt.workers && n_left > 0; i++) {
        const unsigned at = (first + i) % o->opt.workers;
        struct lane *lane = &o->lanes[at];

        if (!lane_may_go(o, at))
            continue;
        n_left--;
        o->next_lane = (at + 1) % o->opt.workers;
        if (!take_lane(o, lane, max, b)) {
            lane->since_ms = now_ms;
            return;
        }
    }
}

/* All of it, but of one that is no part of a bisection no more than max documents. */
static void take_parcel(struct outlet *o, size_t max, struct batch *b)
{
    struct link *first = list_first(&o->parcels);

    assert(first != NULL);

    struct parcel *p = LIST_ITEM(first, struct parcel, link);

    const size_t n_max = p->bisect != NULL ? p->n : max;
    size_t i;

    for (i = 0; i < p->n && b->n < n_max; i++) {
        if (p->docs[i] == NULL)
            continue;
        set_may_go(o, p->docs[i], false);
        p->docs[i]->place = PLACE_NONE;
        o->level.ready--;
        take(b, p->docs[i]);
    }
    b->bisect = p->bisect;
    p->n -= i;
    memmove(p->docs, p->docs + i, p->n * sizeof(struct document *));
    if (p->n > 0)
        return;
    list_remove(&p->link);
    free(p);
}

static struct batch_limit limit_of(const struct outlet *o)
{
    struct batch_limit max = {SIZE_MAX, o->gate.limiter.bytes};

    if (o->opt.batch_max > 0)
        max.documents = o->opt.batch_max;
    if (o->gate.hold == HOLD_BLOCK)
        max.documents = 1;
    else if (gate_is_blown(&o->gate) && max.documents > SAMPLE)
        max.documents = SAMPLE;
    return max;
}

bool outlet_next_batch(struct outlet *o, int64_t now_ms, bool draining, struct batch *out)
{
    if (has_nothing(o) || o->withheld == OUTLET_ALL || o->is_gone)
        return false;

    const struct pool pool = free_pool(o);
    const struct batch_limit max = limit_of(o);
    const bool hurry = draining || gate_is_blown(&o->gate);

    *out = (struct batch){.serial = o->last_serial + 1, .probe = o->gate.hold != HOLD_NONE};
    if (gate_opens_at(&o->gate, o->level.requests) > now_ms)
        return false;
    if (!list_is_empty(&o->parcels))
        take_parcel(o, gate_is_blown(&o->gate) ? max.documents : SIZE_MAX, out);
    else if (pool.n > 0 && (hurry || worth_at(o, &pool) <= now_ms))
        take_lanes(o, &max, now_ms, out);
    else
        return false;
    o->last_serial++;
    o->level.requests++;
    o->level.in_flight += out->n;
    return true;
}

void outlet_shrink_batch(struct outlet *o, struct batch *b, size_t n)
{
    o->level.in_flight -= b->n - n;
    b->n = n;
}

void outlet_end_batch(struct outlet *o, struct batch *b)
{
    for (unsigned i = 0; i < o->opt.workers; i++)
        if (o->lanes[i].batch == b->serial)
            o->lanes[i].batch = 0;
    o->level.requests--;
    o->level.in_flight -= b->n;
    free(b->docs);
    *b = (struct batch){0};
}

static bool load_alike(const struct document *a, const struct document *b)
{
    return a->now->target == b->now->target && a->now->area == b->now->area;
}

int64_t outlet_reads_at(const struct outlet *o)
{
    if (o->level.load_wait == 0 || o->withheld == OUTLET_ALL)
        return NEVER_MS;
    if (!gate_is_blown(&o->gate))
        return 0;
    return has_nothing(o) && o->level.loading == 0 ? gate_opens_at(&o->gate, o->level.requests)
                                                   : NEVER_MS;
}

size_t outlet_next_load(struct outlet *o, size_t max, struct document **docs)
{
    const size_t sample = limit_of(o).documents;
    size_t n = 0, n_seen = 0;

    if (gate_is_blown(&o->gate) && max > sample)
        max = sample;
    LIST_EACH(l, &o->loads)
    {
        struct document *doc = LIST_ITEM(l, struct document, link);

        if (n == max || n_seen++ == max * LOADS_LOOKED_AT)
            break;
        if (n > 0 && !load_alike(doc, docs[0]))
            continue;
        outlet_remove(o, doc);
        document_take(doc);
        docs[n++] = doc;
    }
    o->level.loading += n;
    return n;
}

void outlet_end_load(struct outlet *o, size_t n)
{
    o->level.loading -= n;
}

const struct target *outlet_load_target(const struct outlet *o)
{
    return list_is_empty(&o->loads)
               ? NULL
               : LIST_ITEM(o->loads.next, struct document, link)->now->target;
}

/* When may the next request go? */
static int64_t sends_at(const struct outlet *o)
{
    if (has_nothing(o) || o->withheld == OUTLET_ALL)
        return NEVER_MS;

    const struct pool pool = free_pool(o);
    const int64_t opens_ms = gate_opens_at(&o->gate, o->level.requests);
    int64_t worth_ms = worth_at(o, &pool);

    if (!list_is_empty(&o->parcels) || (pool.n > 0 && gate_is_blown(&o->gate)))
        worth_ms = 0;
    return worth_ms > opens_ms ? worth_ms : opens_ms;
}

int64_t outlet_wait_ms(const struct outlet *o, int64_t now_ms, bool can_send, int64_t max_ms)
{
    int64_t at = can_send ? sends_at(o) : NEVER_MS;

    LIST_EACH(l, &o->parkings)
    if (LIST_ITEM(l, struct parking, link)->due_ms < at)
        at = LIST_ITEM(l, struct parking, link)->due_ms;
    if (at <= now_ms)
        return 0;
    return at - now_ms < max_ms ? at - now_ms : max_ms;
}
