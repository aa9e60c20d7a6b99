#include "config.h"

#include "sync/delivery/index/index_queue_parts.h"

#include "src/base/mem.h"
#include "sync/delivery/index/guests.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define GATHER_MS 50 /* the longest that a further request waits for more documents */
#define SAMPLE    20 /* documents of a probe if most were refused, or all requests failed */
/* Look at up to this many times the number to take, to find some that can be read together. */
#define LOADS_LOOKED_AT 16
#define NEVER_MS        GATE_NEVER_MS

static bool has_nothing(const struct index_queue *o)
{
    return o->level.ready == 0 && list_is_empty(&o->parcels);
}

/* For an index that is gone only empty parts go, so that their bisection ends. */
static bool may_send(const struct index_queue *o)
{
    return !has_nothing(o) && o->withheld != INDEX_QUEUE_ALL &&
           (!o->is_gone || o->level.ready == 0);
}

static bool line_may_go(const struct index_queue *o, enum line line)
{
    return line == LINE_STREAM || o->guests == NULL || guests_may_go(o->guests);
}

/* Tell whether the lane has none in flight, and is not withheld. */
static bool lane_may_go(const struct index_queue *o, unsigned i)
{
    return o->lanes[i].batch == 0 && o->withheld != i;
}

/* The bytes of a request's documents of this line. */
static size_t bytes_max(const struct index_queue *o, enum line line)
{
    const size_t bytes = o->gate.limiter.bytes;

    if (line == LINE_STREAM || o->guests == NULL)
        return bytes;
    return guests_bytes(o->guests) < bytes ? guests_bytes(o->guests) : bytes;
}

/* What may go of the lanes. */
struct waiting_pool {
    struct waiting of[N_LINES];
};

static void add_waiting(struct waiting *sum, const struct waiting *w)
{
    if (w->n == 0)
        return;
    if (sum->n == 0 || w->since_ms < sum->since_ms)
        sum->since_ms = w->since_ms;
    sum->n += w->n;
    sum->bytes += w->bytes;
}

static struct waiting_pool free_pool(const struct index_queue *o)
{
    struct waiting_pool pool = {0};

    for (enum line line = 0; line < N_LINES; line++)
        for (unsigned i = 0; line_may_go(o, line) && i < o->opt.workers; i++)
            if (lane_may_go(o, i))
                add_waiting(&pool.of[line], &o->lanes[i].of[line]);
    return pool;
}

static size_t count_pool(const struct waiting_pool *pool)
{
    return pool->of[LINE_STREAM].n + pool->of[LINE_JOBS].n;
}

bool index_queue_has_line(const struct index_queue *o, enum line line)
{
    return free_pool(o).of[line].n > 0;
}

/* Tell whether it fills at least half a request. */
static bool is_much(const struct index_queue *o, const struct waiting_pool *pool,
                    enum line line)
{
    return pool->of[line].bytes >= bytes_max(o, line) / 2;
}

/* Return when what waits in the line is worth a request. */
static int64_t line_worth_at(const struct index_queue *o, const struct waiting_pool *pool,
                             enum line line)
{
    const struct waiting *w = &pool->of[line];
    const unsigned n_others = line == LINE_STREAM ? o->n_stream_requests : o->level.requests;

    if (w->n == 0)
        return NEVER_MS;
    return n_others == 0 || is_much(o, pool, line) ? w->since_ms : w->since_ms + GATHER_MS;
}

/* Return when what the lanes hold is worth a request. */
static int64_t worth_at(const struct index_queue *o, const struct waiting_pool *pool)
{
    const int64_t stream_ms = line_worth_at(o, pool, LINE_STREAM);
    const int64_t jobs_ms = line_worth_at(o, pool, LINE_JOBS);
    struct waiting all = pool->of[LINE_STREAM];

    add_waiting(&all, &pool->of[LINE_JOBS]);
    if (all.n == 0)
        return NEVER_MS;
    if (all.n < o->opt.batch_min)
        return all.since_ms + o->opt.flush_ms;
    if (o->opt.batch_max > 0 && all.n >= o->opt.batch_max)
        return all.since_ms;
    return stream_ms < jobs_ms ? stream_ms : jobs_ms;
}

static void take(struct batch *b, struct document *doc)
{
    if (b->n == b->cap) {
        b->cap = b->cap == 0 ? 64 : b->cap * 2;
        b->docs = mem_resize(b->docs, b->cap, sizeof(*b->docs));
    }

    const bool for_job = document_is_for_job(doc);

    document_take(doc);
    b->bytes += doc->queued_bytes;
    b->n_jobs += for_job;
    b->has_stream = b->has_stream || !for_job;
    b->job_bytes += for_job ? doc->queued_bytes : 0;
    b->docs[b->n++] = doc;
}

struct batch_limit {
    size_t documents, bytes;
    size_t job_documents, job_bytes; /* of these */
    unsigned lanes[N_LINES];         /* so many more for each line */
};

static bool fits(const struct batch *b, const struct document *doc,
                 const struct batch_limit *max)
{
    return b->n < max->documents && (b->n == 0 || b->bytes + doc->queued_bytes <= max->bytes);
}

static bool jobs_are_full(const struct batch *b, const struct batch_limit *max,
                          const struct document *doc)
{
    return doc->for_job && b->n_jobs > 0 &&
           (b->n_jobs >= max->job_documents ||
            b->job_bytes + doc->queued_bytes > max->job_bytes);
}

/* Returns true if all fitted that max allows of the lane. */
static bool take_lane(struct index_queue *o, struct lane *lane, struct batch_limit *max,
                      struct batch *b)
{
    struct lines_rest rest = lines_all(&lane->ready);
    struct document *doc;

    for (enum line line = 0; line < N_LINES; line++)
        if (max->lanes[line] == 0)
            lines_end(&lane->ready, &rest, line);
    while ((doc = lines_next(&lane->ready, o->opt.job_share, &rest)) != NULL) {
        if (!fits(b, doc, max))
            return false;
        if (jobs_are_full(b, max, doc)) {
            max->lanes[LINE_JOBS] = 0;
            lines_end(&lane->ready, &rest, LINE_JOBS);
            continue;
        }
        if (max->lanes[LINE_JOBS] > 0)
            lines_use_turn(&lane->ready, o->opt.job_share, doc);
        index_queue_remove(o, doc);
        take(b, doc);
        lane->batch = b->serial;
    }
    return true;
}

/* Of n that may go, return how many jobs may have while so many of the stream wait. */
static size_t left_to_jobs(const struct index_queue *o, size_t n, size_t stream)
{
    const unsigned percent = o->opt.job_share;
    const size_t least = n < SIZE_MAX / 100 ? (n * percent + 99) / 100 : n / 100 * percent;

    return stream < n - least ? n - stream : least;
}

/* Jobs of the first lanes must not take the place of the stream in others. */
static void limit_jobs(const struct index_queue *o, const struct waiting_pool *pool,
                       struct batch_limit *max)
{
    const struct waiting *stream = &pool->of[LINE_STREAM];
    const size_t bytes = left_to_jobs(o, max->bytes, stream->bytes);

    max->job_documents = left_to_jobs(o, max->documents, stream->n);
    max->job_bytes = bytes_max(o, LINE_JOBS) < bytes ? bytes_max(o, LINE_JOBS) : bytes;
}

/*
 * If there is much, take half of the lanes at most, so that the other half can go at the same
 * time.  If there is little, take all.
 */
static void limit_lanes(const struct index_queue *o, const struct waiting_pool *pool,
                        struct batch_limit *max)
{
    for (enum line line = 0; line < N_LINES; line++)
        max->lanes[line] = !line_may_go(o, line)    ? 0
                           : is_much(o, pool, line) ? (o->opt.workers + 1) / 2
                                                    : o->opt.workers;
}

/* Tell which lines of the lane have documents that max allows. */
static bool may_take(const struct lane *lane, const struct batch_limit *max,
                     bool lines[N_LINES])
{
    for (enum line line = 0; line < N_LINES; line++)
        lines[line] = max->lanes[line] > 0 && lane->of[line].n > 0;
    return lines[LINE_STREAM] || lines[LINE_JOBS];
}

/* The next request begins with the lane after the last one that gave what it has. */
static void take_lanes(struct index_queue *o, struct batch_limit *max, int64_t now_ms,
                       struct batch *b)
{
    const struct waiting_pool pool = free_pool(o);
    const unsigned first = o->next_lane;
    bool fits = true, lines[N_LINES];

    limit_jobs(o, &pool, max);
    limit_lanes(o, &pool, max);
    for (unsigned i = 0; i < o->opt.workers && fits; i++) {
        const unsigned at = (first + i) % o->opt.workers;
        struct lane *lane = &o->lanes[at];

        if (!lane_may_go(o, at) || !may_take(lane, max, lines))
            continue;
        if (max->lanes[LINE_JOBS] > 0 || b->n_jobs == 0)
            o->next_lane = (at + 1) % o->opt.workers;
        fits = take_lane(o, lane, max, b);
        for (enum line line = 0; line < N_LINES; line++) {
            max->lanes[line] -= lines[line] && max->lanes[line] > 0;
            if (lines[line])
                lane->of[line].since_ms = now_ms;
        }
    }
}

/*
 * Return the first parcel without lost documents, else the first one, else NULL.  Of each
 * bisection one part goes at a time.
 */
static struct parcel *next_parcel(const struct index_queue *o)
{
    struct parcel *lost = NULL;

    LIST_EACH(l, &o->parcels)
    {
        struct parcel *p = LIST_ITEM(l, struct parcel, link);

        if (!p->is_lost && (p->bisect == NULL || !p->bisect->is_out))
            return p;
        if (p->is_lost && lost == NULL)
            lost = p;
    }
    return lost;
}

/* Tell whether everything ready is lost documents. */
static bool has_only_lost(const struct index_queue *o)
{
    size_t n_lost = 0;

    LIST_EACH(l, &o->parcels)
    {
        const struct parcel *p = LIST_ITEM(l, struct parcel, link);

        if (!p->is_lost)
            return false;
        n_lost += p->n;
    }
    return o->level.ready == n_lost;
}

/*
 * Lost documents may fail for long.  One request at a time tries them, and every other request
 * goes to the lanes.  A probe has lost documents only if nothing else is left to send or to
 * read.
 */
static bool parcel_may_go(const struct index_queue *o, const struct parcel *p, bool lanes_due)
{
    if (p == NULL || !p->is_lost)
        return p != NULL;
    if (o->n_lost_requests > 0)
        return false;
    if (gate_is_blown(&o->gate))
        return has_only_lost(o) && o->level.load_wait + o->level.loading == 0;
    return !lanes_due || !o->lost_went;
}

static void take_from_parcel(struct index_queue *o, struct document *doc, struct batch *b)
{
    index_queue_set_may_go(o, doc, false);
    b->n_lost += doc->is_lost;
    doc->is_lost = false;
    doc->place = PLACE_NONE;
    o->level.ready--;
    take(b, doc);
}

/* If it is a part of a bisection, the rest becomes a part of its own. */
static void take_parcel(struct index_queue *o, struct parcel *p, const struct batch_limit *max,
                        struct batch *b)
{
    size_t i;

    for (i = 0; i < p->n && fits(b, p->docs[i], max); i++)
        take_from_parcel(o, p->docs[i], b);
    b->bisect = p->bisect;
    if (b->bisect != NULL)
        b->bisect->is_out = true;
    p->n -= i;
    if (p->n > 0) {
        memmove(p->docs, p->docs + i, p->n * sizeof(struct document *));
        if (p->bisect != NULL)
            bisect_open(p->bisect);
        return;
    }
    list_remove(&p->link);
    index_queue_free_parcel(p);
}

static struct batch_limit limit_of(const struct index_queue *o)
{
    struct batch_limit max = {.documents = index_queue_documents_max(o),
                              .bytes = o->gate.limiter.bytes};

    if (o->gate.hold == HOLD_BLOCK || o->gate.hold == HOLD_BACK)
        max.documents = 1;
    else if (gate_is_blown(&o->gate) && max.documents > SAMPLE)
        max.documents = SAMPLE;
    return max;
}

bool index_queue_next_batch(struct index_queue *o, int64_t now_ms, bool draining,
                            struct batch *out)
{
    if (!may_send(o))
        return false;

    const struct waiting_pool pool = free_pool(o);
    const bool hurry = draining || gate_is_blown(&o->gate);
    const bool lanes_due = count_pool(&pool) > 0 && (hurry || worth_at(o, &pool) <= now_ms);
    struct batch_limit max = limit_of(o);
    struct parcel *parcel = next_parcel(o);

    *out = (struct batch){.serial = o->last_serial + 1, .probe = o->gate.hold != HOLD_NONE};
    if (gate_opens_at(&o->gate, o->level.requests) > now_ms)
        return false;
    if (parcel_may_go(o, parcel, lanes_due))
        take_parcel(o, parcel, &max, out);
    else if (lanes_due)
        take_lanes(o, &max, now_ms, out);
    else
        return false;
    o->lost_went = out->n_lost > 0;
    o->n_lost_requests += out->n_lost > 0;
    o->last_serial++;
    o->n_stream_requests += out->has_stream;
    o->level.requests++;
    o->level.in_flight += out->n;
    return true;
}

void index_queue_shrink_batch(struct index_queue *o, struct batch *b, size_t n)
{
    o->level.in_flight -= b->n - n;
    b->n = n;
}

void index_queue_end_batch(struct index_queue *o, struct batch *b)
{
    for (unsigned i = 0; i < o->opt.workers; i++)
        if (o->lanes[i].batch == b->serial)
            o->lanes[i].batch = 0;
    o->n_lost_requests -= b->n_lost > 0;
    o->n_stream_requests -= b->has_stream;
    o->level.lost -= b->n_lost;
    o->level.requests--;
    o->level.in_flight -= b->n;
    if (b->bisect != NULL)
        b->bisect->is_out = false;
    free(b->docs);
    *b = (struct batch){0};
}

static bool load_alike(const struct document *a, const struct document *b)
{
    return a->now->target == b->now->target && a->now->area == b->now->area;
}

int64_t index_queue_reads_at(const struct index_queue *o)
{
    if (o->level.load_wait == 0 || o->withheld == INDEX_QUEUE_ALL)
        return NEVER_MS;
    if (!gate_is_blown(&o->gate))
        return 0;
    return has_only_lost(o) && o->level.loading == 0
               ? gate_opens_at(&o->gate, o->level.requests)
               : NEVER_MS;
}

size_t index_queue_next_load(struct index_queue *o, size_t max, struct document **docs)
{
    const size_t sample = limit_of(o).documents;
    struct lines_rest rest = lines_all(&o->loads);
    struct document *doc;
    size_t n = 0, n_seen = 0;

    if (gate_is_blown(&o->gate) && max > sample)
        max = sample;
    while ((doc = lines_next(&o->loads, o->opt.job_share, &rest)) != NULL) {
        if (n == max || n_seen++ == max * LOADS_LOOKED_AT)
            break;
        if (n > 0 && !load_alike(doc, docs[0]))
            continue;
        lines_use_turn(&o->loads, o->opt.job_share, doc);
        index_queue_remove(o, doc);
        document_take(doc);
        docs[n++] = doc;
    }
    o->level.loading += n;
    return n;
}

void index_queue_end_load(struct index_queue *o, size_t n)
{
    o->level.loading -= n;
}

const struct target *index_queue_load_target(const struct index_queue *o)
{
    struct lines_rest rest = lines_all(&o->loads);
    const struct document *first = lines_next(&o->loads, o->opt.job_share, &rest);

    return first == NULL ? NULL : first->now->target;
}

/* Return when the next request may go. */
static int64_t sends_at(const struct index_queue *o)
{
    if (!may_send(o))
        return NEVER_MS;

    const struct waiting_pool pool = free_pool(o);
    const int64_t opens_ms = gate_opens_at(&o->gate, o->level.requests);
    int64_t worth_ms = worth_at(o, &pool);

    if (parcel_may_go(o, next_parcel(o), false) ||
        (count_pool(&pool) > 0 && gate_is_blown(&o->gate)))
        worth_ms = 0;
    return worth_ms > opens_ms ? worth_ms : opens_ms;
}

int64_t index_queue_wait_ms(const struct index_queue *o, int64_t now_ms, bool can_send,
                            int64_t max_ms)
{
    int64_t at = can_send ? sends_at(o) : NEVER_MS;

    LIST_EACH(l, &o->parkings)
    if (LIST_ITEM(l, struct parking, link)->due_ms < at)
        at = LIST_ITEM(l, struct parking, link)->due_ms;
    if (at <= now_ms)
        return 0;
    return at - now_ms < max_ms ? at - now_ms : max_ms;
}
