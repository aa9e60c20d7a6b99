/*
 * What an index queue should be, as a few plain arrays: who waits where in which order, and
 * what goes next.  Calls to the index queue and the model go in pairs (place()), so that they
 * can be compared.
 */
#ifndef TESTS_UNIT_INDEX_QUEUE_MODEL_H
#define TESTS_UNIT_INDEX_QUEUE_MODEL_H

#include "tests/unit/game.h"
#include "tests/unit/writes.h"

#include "sync/delivery/bulk/bulk.h"
#include "sync/delivery/document/document_table.h"
#include "sync/delivery/index/guests.h"
#include "sync/delivery/index/index_queue.h"

#define IDS         24
#define WORKERS_MAX 5
#define TARGETS     2
#define MANY        64 /* parkings, parcels, batches */
#define SAMPLE      20
#define GATHER_MS   50

struct queue {
    size_t n;
    struct document *docs[IDS];
};

/* What waits for the same, for the stream and for jobs. */
struct pair {
    struct queue of[2];
    int owed; /* to jobs, in hundredths, since both began to have some */
};

struct parked {
    struct parking *parking;
    int64_t due_ms;
    struct queue docs;
};

struct part {
    struct bisect *bisect; /* or NULL */
    struct queue docs;     /* of a batch that is already made up */
    size_t bytes;          /* of what was put in */
    bool lost;
};

struct world {
    struct random random;
    int64_t now_ms;
    struct index_queue_options opt;
    struct index_queue *index_queue;
    struct document_table *table;
    struct target *targets[TARGETS];
    struct write_ends ends;
    struct ticket_counters tickets;
    uint64_t version;
    size_t n_in, n_gone; /* writes */

    struct pair lanes[WORKERS_MAX], loads;
    struct queue loading;
    int64_t since_ms[WORKERS_MAX][2];
    struct guests guests;
    uint64_t in_flight[WORKERS_MAX]; /* batch */
    unsigned next_lane, withheld;
    struct parked parked[MANY];
    struct part parts[MANY];
    struct batch batches[MANY];
    size_t n_parked, n_parts, n_batches, n_kept;
    bool lost_went; /* last */

    uint64_t delivered[IDS]; /* versions */
    uint64_t lost[IDS];      /* sent without an answer, 0: none */
};

static inline size_t below(struct world *w, size_t n)
{
    return random_below(&w->random, n);
}

static inline bool chance(struct world *w, unsigned percent)
{
    return below(w, 100) < percent;
}

static inline unsigned id_of(const struct document *doc)
{
    char id[8];

    snprintf(id, sizeof(id), "%.*s", STR_ARG(write_id(doc->now)));
    return (unsigned)strtoul(id, NULL, 10);
}

static inline bool is_blown(const struct world *w)
{
    return gate_is_blown(index_queue_gate(w->index_queue));
}

/* ---- the model's queues ---- */

static inline void put(struct queue *q, struct document *doc, bool first)
{
    must(q->n < IDS);
    if (first)
        memmove(q->docs + 1, q->docs, q->n * sizeof(q->docs[0]));
    q->docs[first ? 0 : q->n] = doc;
    q->n++;
}

static inline struct document *pull(struct queue *q, size_t i)
{
    struct document *doc = q->docs[i];

    must(i < q->n);
    q->n--;
    memmove(q->docs + i, q->docs + i + 1, (q->n - i) * sizeof(q->docs[0]));
    return doc;
}

static inline bool drop_from(struct queue *q, const struct document *doc)
{
    for (size_t i = 0; i < q->n; i++)
        if (q->docs[i] == doc) {
            (void)pull(q, i);
            return true;
        }
    return false;
}

static inline size_t count(const struct pair *p)
{
    return p->of[0].n + p->of[1].n;
}

static inline bool is_for_job(const struct document *doc)
{
    return doc->now->gathered || (doc->later != NULL && doc->later->gathered);
}

static inline void put_in_pair(struct pair *p, struct document *doc, bool first)
{
    put(&p->of[is_for_job(doc)], doc, first);
}

static inline bool drop_from_pair(struct pair *p, const struct document *doc)
{
    return drop_from(&p->of[0], doc) || drop_from(&p->of[1], doc);
}

/* Whose turn it is, of those behind the first skip[] of each; NULL: nobody's. */
static inline struct document *next_of(const struct world *w, const struct pair *p,
                                       const size_t skip[2])
{
    size_t turn = p->owed + (int)w->opt.job_share >= 100;

    if (skip[turn] == p->of[turn].n)
        turn = 1 - turn;
    return skip[turn] == p->of[turn].n ? NULL : p->of[turn].docs[skip[turn]];
}

static inline struct document *first_of(const struct world *w, const struct pair *p)
{
    return next_of(w, p, (const size_t[2]){0, 0});
}

static inline void pull_of(const struct world *w, struct pair *p, const struct document *doc)
{
    if (p->of[0].n > 0 && p->of[1].n > 0)
        p->owed += (int)w->opt.job_share - 100 * is_for_job(doc);
    else
        p->owed = 0;
    must(drop_from_pair(p, doc));
}

static inline void remove_part(struct world *w, size_t i)
{
    w->n_parts--;
    memmove(&w->parts[i], &w->parts[i + 1], (w->n_parts - i) * sizeof(w->parts[0]));
}

static inline struct pair *lane_of(struct world *w, const struct document *doc)
{
    return &w->lanes[doc->hash % w->opt.workers];
}

static inline void leave(struct world *w, const struct document *doc)
{
    bool was = drop_from_pair(lane_of(w, doc), doc) || drop_from_pair(&w->loads, doc);

    for (size_t i = 0; i < w->n_parked && !was; i++)
        was = drop_from(&w->parked[i].docs, doc);
    for (size_t i = 0; i < w->n_parts && !was; i++) {
        was = drop_from(&w->parts[i].docs, doc);
        /* Of a bisection an empty part goes as well. */
        if (was && w->parts[i].docs.n == 0 && w->parts[i].bisect == NULL)
            remove_part(w, i);
    }
}

static inline void put_in_lane(struct world *w, struct document *doc, bool first,
                               int64_t now_ms)
{
    struct pair *lane = lane_of(w, doc);
    int64_t *since_ms = w->since_ms[lane - w->lanes];

    if (lane->of[is_for_job(doc)].n == 0)
        since_ms[is_for_job(doc)] = now_ms;
    put_in_pair(lane, doc, first);
}

static inline void enter(struct world *w, struct document *doc, bool first)
{
    leave(w, doc);
    if (doc->state == DOCUMENT_LOAD_WAIT) {
        put_in_pair(&w->loads, doc, first);
        return;
    }
    put_in_lane(w, doc, first, w->now_ms);
}

/* What a job asks for as well goes before what only jobs ask for. */
static inline void resize(struct world *w, struct document *doc)
{
    struct pair *lane = lane_of(w, doc);

    index_queue_resize(w->index_queue, doc);
    if (is_for_job(doc) && drop_from(&lane->of[0], doc))
        put_in_lane(w, doc, true, w->since_ms[lane - w->lanes][0]);
    if (is_for_job(doc) && drop_from(&w->loads.of[0], doc))
        put(&w->loads.of[1], doc, true);
}

static inline void place(struct world *w, struct document *doc, bool first)
{
    if (first)
        index_queue_place_first(w->index_queue, doc, w->now_ms);
    else
        index_queue_place(w->index_queue, doc, w->now_ms);
    enter(w, doc, first);
}

static inline void add_part(struct world *w, struct document *const *docs, size_t n,
                            struct bisect *b)
{
    const size_t at = b != NULL ? 0 : w->n_parts; /* of a bisection the latest goes first */
    struct part *p = &w->parts[at];

    must(++w->n_parts < MANY);
    memmove(p + 1, p, (w->n_parts - 1 - at) * sizeof(*p));
    *p = (struct part){.bisect = b};
    for (size_t i = 0; i < n; i++)
        put(&p->docs, docs[i], false);
}

static inline bool has_room(const struct world *w, const struct part *p,
                            const struct document *doc)
{
    const size_t max = w->opt.batch_max > 0 ? w->opt.batch_max : SIZE_MAX;

    return p->docs.n < max &&
           p->bytes + bulk_size(doc->now) <= index_queue_gate(w->index_queue)->limiter.aim;
}

/* Behind the last lost ones, if their batch has room. */
static inline void add_lost(struct world *w, struct document *doc)
{
    struct part *last = NULL;

    for (size_t i = 0; i < w->n_parts; i++)
        last = w->parts[i].lost ? &w->parts[i] : last;
    if (last == NULL || !has_room(w, last, doc)) {
        add_part(w, NULL, 0, NULL);
        last = &w->parts[w->n_parts - 1];
        last->lost = true;
    }
    put(&last->docs, doc, false);
    last->bytes += bulk_size(doc->now);
}

static inline void unpark(struct world *w, const struct queue *docs)
{
    struct part *ready = NULL;

    for (size_t i = 0; i < docs->n; i++) {
        struct document *doc = docs->docs[i];

        if (doc->state == DOCUMENT_LOAD_WAIT) {
            put_in_pair(&w->loads, doc, true);
        } else if (doc->state == DOCUMENT_UNKNOWN) {
            add_lost(w, doc);
        } else {
            if (ready == NULL || !has_room(w, ready, doc)) {
                add_part(w, NULL, 0, NULL);
                ready = &w->parts[w->n_parts - 1];
            }
            put(&ready->docs, doc, false);
            ready->bytes += bulk_size(doc->now);
        }
    }
}

static inline void turn(struct world *w)
{
    size_t n = 0;

    index_queue_turn(w->index_queue, w->now_ms);
    for (size_t i = 0; i < w->n_parked; i++)
        if (w->parked[i].due_ms > w->now_ms && w->parked[i].docs.n > 0)
            w->parked[n++] = w->parked[i];
        else
            unpark(w, &w->parked[i].docs);
    w->n_parked = n;
}

static inline struct parked *a_parking(struct world *w)
{
    struct parked *p = &w->parked[w->n_parked++];

    must(w->n_parked < MANY);
    *p = (struct parked){.due_ms = w->now_ms + (int64_t)below(w, 300)};
    p->parking = index_queue_open_parking(w->index_queue, p->due_ms);
    return p;
}

/* ---- what should go ---- */

static inline bool line_may_go(const struct world *w, size_t line)
{
    return line == 0 || guests_may_go(&w->guests);
}

static inline bool lane_may_go(const struct world *w, size_t i)
{
    return w->in_flight[i] == 0 && w->withheld != i;
}

static inline size_t bytes_of(const struct queue *q)
{
    size_t bytes = 0;

    for (size_t i = 0; i < q->n; i++)
        bytes += bulk_size(q->docs[i]->now);
    return bytes;
}

/* Of a request, for the documents of a line. */
static inline size_t bytes_max(const struct world *w, size_t line)
{
    const size_t bytes = index_queue_gate(w->index_queue)->limiter.bytes;

    return line == 1 && guests_bytes(&w->guests) < bytes ? guests_bytes(&w->guests) : bytes;
}

/* What may go of a line. */
struct waiting_now {
    size_t n, bytes;
    int64_t since_ms;
};

static inline struct waiting_now waiting(const struct world *w, size_t line)
{
    struct waiting_now all = {.since_ms = INT64_MAX};

    for (size_t i = 0; i < w->opt.workers; i++)
        if (lane_may_go(w, i) && line_may_go(w, line) && w->lanes[i].of[line].n > 0) {
            all.n += w->lanes[i].of[line].n;
            all.bytes += bytes_of(&w->lanes[i].of[line]);
            all.since_ms =
                w->since_ms[i][line] < all.since_ms ? w->since_ms[i][line] : all.since_ms;
        }
    return all;
}

static inline bool is_much(const struct world *w, size_t line)
{
    return waiting(w, line).bytes >= bytes_max(w, line) / 2;
}

static inline bool line_should_go(const struct world *w, size_t line, int64_t at_ms)
{
    const struct waiting_now all = waiting(w, line);
    size_t n_before = 0;

    for (size_t i = 0; i < w->n_batches; i++)
        n_before += line == 1 || w->batches[i].has_stream;
    return all.n > 0 &&
           at_ms >= all.since_ms + (n_before == 0 || is_much(w, line) ? 0 : GATHER_MS);
}

static inline bool lanes_should_go(const struct world *w, int64_t at_ms)
{
    const struct waiting_now stream = waiting(w, 0), jobs = waiting(w, 1);
    const int64_t since_ms = stream.since_ms < jobs.since_ms ? stream.since_ms : jobs.since_ms;
    const size_t n = stream.n + jobs.n;

    if (n == 0)
        return false;
    if (is_blown(w))
        return true;
    if (n < w->opt.batch_min)
        return at_ms >= since_ms + w->opt.flush_ms;
    return (w->opt.batch_max > 0 && n >= w->opt.batch_max) || line_should_go(w, 0, at_ms) ||
           line_should_go(w, 1, at_ms);
}

static inline bool has_any(const struct world *w)
{
    return waiting(w, 0).n + waiting(w, 1).n > 0;
}

static inline size_t count_ready(const struct world *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->opt.workers; i++)
        n += count(&w->lanes[i]);
    for (size_t i = 0; i < w->n_parts; i++)
        n += w->parts[i].docs.n;
    return n;
}

/* Another part of the same bisection is sent. */
static inline bool must_wait(const struct world *w, const struct part *p)
{
    for (size_t i = 0; i < w->n_batches; i++)
        if (p->bisect != NULL && w->batches[i].bisect == p->bisect)
            return true;
    return false;
}

/* The first part that is not of lost documents, else the first that is; n_parts: none. */
static inline size_t next_part(const struct world *w)
{
    for (size_t i = 0; i < w->n_parts; i++)
        if (!w->parts[i].lost && !must_wait(w, &w->parts[i]))
            return i;
    for (size_t i = 0; i < w->n_parts; i++)
        if (w->parts[i].lost)
            return i;
    return w->n_parts;
}

/* Nothing else is ready. */
static inline bool has_only_lost(const struct world *w)
{
    for (size_t i = 0; i < w->opt.workers; i++)
        if (count(&w->lanes[i]) > 0)
            return false;
    for (size_t i = 0; i < w->n_parts; i++)
        if (!w->parts[i].lost)
            return false;
    return true;
}

/* Lost documents go one batch at a time, and leave every other one to the lanes; a try of an
 * index that takes nothing they leave to all others. */
static inline bool part_should_go(const struct world *w, int64_t at_ms, bool draining)
{
    const size_t next = next_part(w);

    if (next == w->n_parts || !w->parts[next].lost)
        return next < w->n_parts;
    for (size_t i = 0; i < w->n_batches; i++)
        if (w->batches[i].n_lost > 0)
            return false;
    if (is_blown(w))
        return has_only_lost(w) && count(&w->loads) + w->loading.n == 0;
    if (!lanes_should_go(w, at_ms) && !(draining && has_any(w)))
        return true;
    return !w->lost_went;
}

static inline bool should_go(const struct world *w, int64_t at_ms, bool draining)
{
    if (w->withheld == INDEX_QUEUE_ALL ||
        (index_queue_is_gone(w->index_queue) && count_ready(w) > 0))
        return false;
    if (gate_opens_at(index_queue_gate(w->index_queue), (unsigned)w->n_batches) > at_ms)
        return false;
    return part_should_go(w, at_ms, draining) || lanes_should_go(w, at_ms) ||
           (draining && has_any(w));
}

static inline size_t documents_max(const struct world *w)
{
    const size_t max = w->opt.batch_max > 0 ? w->opt.batch_max : SIZE_MAX;

    if (index_queue_held(w->index_queue) == HOLD_BLOCK)
        return 1;
    return is_blown(w) && max > SAMPLE ? SAMPLE : max;
}

static inline bool fits(const struct world *w, const struct queue *taken,
                        const struct document *doc)
{
    return taken->n < documents_max(w) &&
           (taken->n == 0 || bytes_of(taken) + bulk_size(doc->now) <=
                                 index_queue_gate(w->index_queue)->limiter.bytes);
}

/* The documents of the next part, or of some lanes. */
static inline void take_part(struct world *w, struct queue *out)
{
    const size_t at = next_part(w);
    struct part *p = &w->parts[at];

    while (p->docs.n > 0 && fits(w, out, p->docs.docs[0]))
        put(out, pull(&p->docs, 0), false);
    w->lost_went = p->lost;
    if (p->docs.n == 0)
        remove_part(w, at);
}

/* Documents and bytes that jobs may have of a request, beside what waits of the stream. */
struct job_limit {
    size_t n, bytes;
};

static inline size_t share_of_jobs(const struct world *w, size_t max, size_t stream)
{
    const size_t least =
        max == SIZE_MAX ? max / 100 * w->opt.job_share : (max * w->opt.job_share + 99) / 100;

    return stream < max - least ? max - stream : least;
}

static inline struct job_limit limit_of_jobs(const struct world *w)
{
    const struct waiting_now stream = waiting(w, 0);
    const size_t bytes =
        share_of_jobs(w, index_queue_gate(w->index_queue)->limiter.bytes, stream.bytes);

    return (struct job_limit){share_of_jobs(w, documents_max(w), stream.n),
                              bytes < bytes_max(w, 1) ? bytes : bytes_max(w, 1)};
}

/* Until jobs have all that they may have of a request; then of the stream only. */
static inline bool take_lane(struct world *w, size_t at, const struct job_limit *max,
                             size_t n_lanes[2], struct queue *out)
{
    struct pair *lane = &w->lanes[at];
    struct document *doc;

    for (;;) {
        size_t skip[2], n_jobs = 0, job_bytes = 0;

        for (size_t line = 0; line < 2; line++)
            skip[line] = n_lanes[line] > 0 ? 0 : lane->of[line].n;
        doc = next_of(w, lane, skip);
        if (doc == NULL || !fits(w, out, doc))
            return doc == NULL;
        for (size_t i = 0; i < out->n; i++) {
            n_jobs += is_for_job(out->docs[i]);
            job_bytes += is_for_job(out->docs[i]) ? bulk_size(out->docs[i]->now) : 0;
        }
        if (is_for_job(doc) && n_jobs > 0 &&
            (n_jobs >= max->n || job_bytes + bulk_size(doc->now) > max->bytes)) {
            n_lanes[1] = 0;
            continue;
        }
        if (n_lanes[1] > 0)
            pull_of(w, lane, doc);
        else
            must(drop_from_pair(lane, doc));
        put(out, doc, false);
    }
}

static inline bool has_jobs(const struct queue *q)
{
    for (size_t i = 0; i < q->n; i++)
        if (is_for_job(q->docs[i]))
            return true;
    return false;
}

static inline void take_lanes(struct world *w, uint64_t serial, struct queue *out)
{
    const struct job_limit max = limit_of_jobs(w);
    const unsigned first = w->next_lane;
    size_t n_lanes[2];
    bool fit = true;

    for (size_t line = 0; line < 2; line++)
        n_lanes[line] = !line_may_go(w, line) ? 0
                        : is_much(w, line)    ? (w->opt.workers + 1) / 2
                                              : w->opt.workers;
    for (unsigned i = 0; i < w->opt.workers && fit; i++) {
        const unsigned at = (first + i) % w->opt.workers;
        const size_t before = out->n;
        bool tries[2];

        for (size_t line = 0; line < 2; line++)
            tries[line] = n_lanes[line] > 0 && w->lanes[at].of[line].n > 0;
        if (!lane_may_go(w, at) || !(tries[0] || tries[1]))
            continue;
        if (n_lanes[1] > 0 || !has_jobs(out))
            w->next_lane = (at + 1) % w->opt.workers;
        fit = take_lane(w, at, &max, n_lanes, out);
        w->in_flight[at] = out->n > before ? serial : 0;
        for (size_t line = 0; line < 2; line++)
            if (tries[line]) {
                n_lanes[line] -= n_lanes[line] > 0;
                w->since_ms[at][line] = w->now_ms;
            }
    }
}

/* ---- what may be purged ---- */

static inline bool may_go(const struct document *doc, size_t lane, unsigned workers)
{
    return doc->hash % workers == lane && document_may_be_purged(doc);
}

static inline size_t count_may_go(const struct world *w, const struct queue *q, size_t lane)
{
    size_t n = 0;

    for (size_t i = 0; i < q->n; i++)
        n += may_go(q->docs[i], lane, w->opt.workers);
    return n;
}

static inline size_t purgeable(const struct world *w, size_t lane)
{
    size_t n = 0;

    for (size_t i = 0; i < 2; i++)
        n += count_may_go(w, &w->lanes[lane].of[i], lane) +
             count_may_go(w, &w->loads.of[i], lane);
    for (size_t i = 0; i < w->n_parked; i++)
        n += count_may_go(w, &w->parked[i].docs, lane);
    for (size_t i = 0; i < w->n_parts; i++)
        if (w->parts[i].bisect == NULL)
            n += count_may_go(w, &w->parts[i].docs, lane);
    return n;
}

/* Of these, documents that wait apart as they were lost. */
static inline size_t lost_purgeable(const struct world *w, size_t lane)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_parked; i++)
        for (size_t k = 0; k < w->parked[i].docs.n; k++)
            n += w->parked[i].docs.docs[k]->state == DOCUMENT_UNKNOWN &&
                 may_go(w->parked[i].docs.docs[k], lane, w->opt.workers);
    for (size_t i = 0; i < w->n_parts; i++)
        if (w->parts[i].lost)
            n += count_may_go(w, &w->parts[i].docs, lane);
    return n;
}

static inline size_t count_lost(const struct world *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_parked; i++)
        for (size_t k = 0; k < w->parked[i].docs.n; k++)
            n += w->parked[i].docs.docs[k]->state == DOCUMENT_UNKNOWN;
    for (size_t i = 0; i < w->n_parts; i++)
        n += w->parts[i].lost ? w->parts[i].docs.n : 0;
    for (size_t i = 0; i < w->n_batches; i++)
        n += w->batches[i].n_lost;
    return n;
}

/* The one that goes of a lane, of the stream's before those of jobs; NULL: none.  Those before
 * it, which may not go, are put behind the others. */
static inline struct document *oldest_of(struct world *w, size_t lane)
{
    for (size_t i = 0; i < 2; i++) {
        struct queue *q = &w->lanes[lane].of[i];

        if (count_may_go(w, q, lane) == 0)
            continue;
        while (!document_may_be_purged(q->docs[0]))
            put(q, pull(q, 0), false);
        return q->docs[0];
    }
    return NULL;
}

/* ---- other lanes, and reads ---- */

static inline void move_to_lanes(struct world *w, unsigned workers)
{
    struct pair old[WORKERS_MAX];
    int64_t since_ms[WORKERS_MAX][2];
    const unsigned n = w->opt.workers;

    memcpy(old, w->lanes, sizeof(old));
    memcpy(since_ms, w->since_ms, sizeof(since_ms));
    memset(w->lanes, 0, sizeof(w->lanes));
    memset(w->in_flight, 0, sizeof(w->in_flight));
    w->next_lane = 0;
    w->opt.workers = workers;
    for (unsigned i = 0; i < n; i++)
        for (size_t k = 0; k < count(&old[i]); k++) {
            struct document *doc = k < old[i].of[0].n ? old[i].of[0].docs[k]
                                                      : old[i].of[1].docs[k - old[i].of[0].n];

            put_in_lane(w, doc, false, since_ms[i][k >= old[i].of[0].n]);
        }
}

/* Of the first that wait as many as can be read together; of many no more are looked at. */
static inline void check_load(struct world *w, size_t max, struct document *const *docs,
                              size_t n)
{
    const struct document *first = first_of(w, &w->loads), *doc;
    const struct target *target = first != NULL ? first->now->target : NULL;
    size_t taken = 0, seen = 0, skip[2] = {0, 0};

    if (is_blown(w) && max > documents_max(w))
        max = documents_max(w);
    while (taken < max && seen++ < max * 16 && (doc = next_of(w, &w->loads, skip)) != NULL)
        if (doc->now->target == target) {
            must(taken < n && docs[taken++] == doc);
            pull_of(w, &w->loads, doc);
        } else {
            skip[is_for_job(doc)]++;
        }
    must(taken == n);
}

#endif
