#include "config.h"

#include "sync/delivery/index/index_queue_parts.h"

#include "src/base/mem.h"
#include "sync/delivery/bulk/bulk.h"

#include <assert.h>
#include <stdlib.h>

struct lane *index_queue_new_lanes(unsigned n)
{
    struct lane *lanes = mem_alloc(n, sizeof(*lanes));

    for (unsigned i = 0; i < n; i++)
        lines_init(&lanes[i].ready);
    return lanes;
}

void index_queue_set_may_go(struct index_queue *o, struct document *doc, bool may_go)
{
    const bool is_large = may_go && doc->now->is_large;
    const size_t goes = (size_t)may_go - doc->may_go, large = (size_t)is_large - doc->is_large;

    doc->may_go = may_go;
    doc->is_large = is_large;
    for (unsigned share = SHARE_ALL; share <= (doc->is_lost ? SHARE_LOST : SHARE_ALL);
         share++) {
        lane_of(o, doc)->n_may_go[share] += goes;
        o->n_may_go[share] += goes;
        o->n_large[share] += large;
    }
}

/* doc begins to wait apart. */
static void set_lost(struct index_queue *o, struct document *doc, bool is_lost)
{
    doc->is_lost = is_lost;
    o->level.lost += is_lost;
}

static void end_lost(struct index_queue *o, struct document *doc)
{
    o->level.lost -= doc->is_lost;
    doc->is_lost = false;
}

static struct waiting *waiting_of(const struct index_queue *o, const struct document *doc)
{
    return &lane_of(o, doc)->of[doc->for_job ? LINE_JOBS : LINE_STREAM];
}

static void count_in(struct index_queue *o, const struct document *doc, int64_t now_ms)
{
    struct waiting *waiting = waiting_of(o, doc);

    if (waiting->n == 0)
        waiting->since_ms = now_ms;
    waiting->n++;
    waiting->bytes += doc->queued_bytes;
}

static void count_out(struct index_queue *o, const struct document *doc)
{
    struct waiting *waiting = waiting_of(o, doc);

    waiting->n--;
    waiting->bytes -= doc->queued_bytes;
}

static void enter_lane(struct index_queue *o, struct document *doc, int64_t now_ms, bool first)
{
    lines_push(&lane_of(o, doc)->ready, doc, first);
    doc->queued_bytes = (uint32_t)bulk_size(doc->now);
    doc->place = PLACE_LANE;
    count_in(o, doc, now_ms);
    o->level.ready++;
}

static void leave_lane(struct index_queue *o, struct document *doc)
{
    list_remove(&doc->link);
    index_queue_set_may_go(o, doc, false);
    doc->place = PLACE_NONE;
    count_out(o, doc);
    o->level.ready--;
}

static void count_may_go(struct index_queue *o, const struct document *doc)
{
    lane_of(o, doc)->n_may_go[SHARE_ALL] += doc->may_go;
    lane_of(o, doc)->n_may_go[SHARE_LOST] += doc->may_go && doc->is_lost;
}

static void count_lines(struct index_queue *o, const struct lines *lines)
{
    for (unsigned i = 0; i < N_LINES; i++)
        LIST_EACH(l, &lines->line[i])
    count_may_go(o, LIST_ITEM(l, struct document, link));
}

static void count_all_may_go(struct index_queue *o)
{
    for (unsigned i = 0; i < o->opt.workers; i++)
        count_lines(o, &o->lanes[i].ready);
    count_lines(o, &o->loads);
    LIST_EACH(p, &o->parkings)
    LIST_EACH(l, &LIST_ITEM(p, struct parking, link)->docs)
    count_may_go(o, LIST_ITEM(l, struct document, link));
    LIST_EACH(l, &o->parcels)
    {
        const struct parcel *p = LIST_ITEM(l, struct parcel, link);

        for (size_t i = 0; i < p->n; i++)
            count_may_go(o, p->docs[i]);
    }
}

static void move_line(struct index_queue *o, const struct lane *from, enum line line)
{
    LIST_EACH(l, &from->ready.line[line])
    {
        struct document *doc = LIST_ITEM(l, struct document, link);

        list_remove(&doc->link);
        o->level.ready--;
        enter_lane(o, doc, from->of[line].since_ms, false);
    }
}

/* Keeps the order of each line, and so of each document, which waits only once. */
void index_queue_move_to_lanes(struct index_queue *o, unsigned workers)
{
    struct lane *old = o->lanes;
    const unsigned n_old = o->opt.workers;

    o->lanes = index_queue_new_lanes(workers);
    o->opt.workers = workers;
    o->next_lane = 0;
    for (unsigned i = 0; i < n_old; i++) {
        move_line(o, &old[i], LINE_STREAM);
        move_line(o, &old[i], LINE_JOBS);
    }
    count_all_may_go(o);
    free(old);
}

/* Keeps a part of a bisection even when empty, as its owner waits for each part. */
static void take_from_parcel(struct index_queue *o, struct parcel *p, size_t i)
{
    end_lost(o, p->docs[i]);
    p->docs[i]->place = PLACE_NONE;
    o->level.ready--;
    p->n--;
    memmove(p->docs + i, p->docs + i + 1, (p->n - i) * sizeof(struct document *));
    if (p->n > 0 || p->bisect != NULL)
        return;
    list_remove(&p->link);
    index_queue_free_parcel(p);
}

static bool find_in_parcel(const struct parcel *p, const struct document *doc, size_t *at)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->docs[i] == doc) {
            *at = i;
            return true;
        }
    return false;
}

static void leave_parcel(struct index_queue *o, struct document *doc)
{
    size_t at;

    LIST_EACH(l, &o->parcels)
    {
        struct parcel *p = LIST_ITEM(l, struct parcel, link);

        if (!find_in_parcel(p, doc, &at))
            continue;
        take_from_parcel(o, p, at);
        return;
    }
    assert(false);
}

void index_queue_remove(struct index_queue *o, struct document *doc)
{
    index_queue_set_may_go(o, doc, false);
    switch ((enum place)doc->place) {
    case PLACE_NONE: return;
    case PLACE_LANE: leave_lane(o, doc); return;
    case PLACE_PARCEL: leave_parcel(o, doc); return;
    case PLACE_LOADS: o->level.load_wait--; break;
    case PLACE_PARKED:
        o->level.parked--;
        end_lost(o, doc);
        break;
    }
    list_remove(&doc->link);
    doc->place = PLACE_NONE;
}

static void enter(struct index_queue *o, struct document *doc, int64_t now_ms, bool first)
{
    index_queue_remove(o, doc);
    doc->is_part = false;
    if (doc->state != DOCUMENT_LOAD_WAIT) {
        assert(doc->state == DOCUMENT_READY || doc->state == DOCUMENT_UNKNOWN);
        enter_lane(o, doc, now_ms, first);
        index_queue_set_may_go(o, doc, document_may_be_purged(doc));
        return;
    }
    lines_push(&o->loads, doc, first);
    doc->place = PLACE_LOADS;
    index_queue_set_may_go(o, doc, document_may_be_purged(doc));
    o->level.load_wait++;
}

void index_queue_place(struct index_queue *o, struct document *doc, int64_t now_ms)
{
    enter(o, doc, now_ms, false);
}

void index_queue_place_first(struct index_queue *o, struct document *doc, int64_t now_ms)
{
    enter(o, doc, now_ms, true);
}

/* If a job now requests what only the stream waited for, move it to the jobs' line. */
static void change_line(struct lines *lines, struct document *doc)
{
    if (document_is_for_job(doc) != doc->for_job)
        lines_change(lines, doc);
}

static void resize_in_lane(struct index_queue *o, struct document *doc)
{
    const int64_t since_ms = waiting_of(o, doc)->since_ms;

    count_out(o, doc);
    change_line(&lane_of(o, doc)->ready, doc);
    doc->queued_bytes = (uint32_t)bulk_size(doc->now);
    count_in(o, doc, since_ms);
}

void index_queue_resize(struct index_queue *o, struct document *doc)
{
    if (doc->place != PLACE_NONE)
        index_queue_set_may_go(o, doc, !doc->is_part && document_may_be_purged(doc));
    if (doc->place == PLACE_LOADS)
        change_line(&o->loads, doc);
    if (doc->place == PLACE_LANE)
        resize_in_lane(o, doc);
    if (doc->place == PLACE_PARCEL)
        doc->queued_bytes = (uint32_t)bulk_size(doc->now);
}

struct parking *index_queue_open_parking(struct index_queue *o, int64_t due_ms)
{
    struct parking *p = mem_alloc(1, sizeof(*p));

    p->due_ms = due_ms;
    list_init(&p->docs);
    list_push_back(&o->parkings, &p->link);
    return p;
}

void index_queue_park(struct index_queue *o, struct parking *p, struct document *doc)
{
    assert(doc->place == PLACE_NONE);
    list_push_back(&p->docs, &doc->link);
    doc->is_part = false;
    doc->place = PLACE_PARKED;
    set_lost(o, doc, doc->state == DOCUMENT_UNKNOWN);
    index_queue_set_may_go(o, doc, document_may_be_purged(doc));
    o->level.parked++;
}

/* The latest part of a bisection goes first, everything else last. */
static struct parcel *make_parcel(struct index_queue *o, struct bisect *bisect)
{
    struct parcel *p = mem_alloc(1, sizeof(*p));

    p->bisect = bisect;
    if (bisect != NULL)
        list_push_front(&o->parcels, &p->link);
    else
        list_push_back(&o->parcels, &p->link);
    return p;
}

void index_queue_free_parcel(struct parcel *p)
{
    free(p->docs);
    free(p);
}

static void put_in_parcel(struct index_queue *o, struct parcel *p, struct document *doc)
{
    if (p->n == p->cap) {
        p->cap = p->cap == 0 ? 16 : p->cap * 2;
        p->docs = mem_resize(p->docs, p->cap, sizeof(struct document *));
    }
    p->docs[p->n++] = doc;
    doc->queued_bytes = (uint32_t)bulk_size(doc->now);
    p->bytes += doc->queued_bytes;
    doc->place = PLACE_PARCEL;
    doc->is_part = p->bisect != NULL;
    set_lost(o, doc, p->is_lost);
    index_queue_set_may_go(o, doc, !doc->is_part && document_may_be_purged(doc));
    o->level.ready++;
}

static bool has_room(const struct index_queue *o, const struct parcel *p,
                     const struct document *doc)
{
    return p->n < index_queue_documents_max(o) &&
           p->bytes + bulk_size(doc->now) <= o->gate.limiter.aim;
}

/*
 * Return the last parcel of lost documents if it has room, so that few requests try many of
 * them.
 */
static struct parcel *lost_parcel(struct index_queue *o, const struct document *doc)
{
    struct parcel *last = NULL;

    LIST_EACH(l, &o->parcels)
    if (LIST_ITEM(l, struct parcel, link)->is_lost)
        last = LIST_ITEM(l, struct parcel, link);
    if (last != NULL && has_room(o, last, doc))
        return last;
    last = make_parcel(o, NULL);
    last->is_lost = true;
    return last;
}

/* Queue the parked documents to be read, or to be sent in a batch of their own. */
static void unpark(struct index_queue *o, struct parking *p, int64_t now_ms)
{
    struct parcel *ready = NULL, *lost = NULL;

    LIST_EACH(l, &p->docs)
    {
        struct document *doc = LIST_ITEM(l, struct document, link);

        index_queue_remove(o, doc);
        if (doc->state == DOCUMENT_LOAD_WAIT) {
            index_queue_place_first(o, doc, now_ms);
        } else if (doc->state == DOCUMENT_UNKNOWN) {
            if (lost == NULL || !has_room(o, lost, doc))
                lost = lost_parcel(o, doc);
            put_in_parcel(o, lost, doc);
        } else {
            if (ready == NULL || !has_room(o, ready, doc))
                ready = make_parcel(o, NULL);
            put_in_parcel(o, ready, doc);
        }
    }
}

void index_queue_turn(struct index_queue *o, int64_t now_ms)
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

void index_queue_split(struct index_queue *o, const struct batch *b, size_t from, size_t to,
                       struct bisect *bisect)
{
    struct parcel *p = make_parcel(o, bisect);

    for (size_t i = from; i < to; i++) {
        assert(b->docs[i]->place == PLACE_NONE);
        put_in_parcel(o, p, b->docs[i]);
    }
}

void index_queue_unsplit(struct index_queue *o, struct bisect *bisect, int64_t now_ms)
{
    LIST_EACH(l, &o->parcels)
    {
        struct parcel *p = LIST_ITEM(l, struct parcel, link);

        if (p->bisect != bisect)
            continue;
        while (p->n > 0)
            index_queue_place(o, p->docs[0], now_ms);
        list_remove(&p->link);
        if (bisect_close(bisect))
            assert(false);
        index_queue_free_parcel(p);
    }
}
