#include "config.h"

#include "sync/delivery/index/index_queue_parts.h"

#include <assert.h>

size_t index_queue_purgeable(const struct index_queue *o, enum index_queue_share share,
                             unsigned worker)
{
    return worker == INDEX_QUEUE_ANY ? o->n_may_go[share] : o->lanes[worker].n_may_go[share];
}

/* Which document to look for. */
struct wanted {
    struct lane *lane; /* NULL: any lane */
    bool lost, large;  /* only lost ones, only large ones */
};

static bool may_give(const struct index_queue *o, const struct document *doc,
                     const struct wanted *want)
{
    return doc->may_go && (doc->is_lost || !want->lost) && (doc->is_large || !want->large) &&
           (want->lane == NULL || lane_of(o, doc) == want->lane);
}

/*
 * Moves documents that may not be purged to the end, so that the next call need not look at
 * them.
 */
static struct document *oldest_of_line(struct link *line)
{
    const struct link *last = line->prev;
    struct link *first = list_first(line);
    bool is_last = first == NULL;

    while (!is_last && !LIST_ITEM(first, struct document, link)->may_go) {
        is_last = first == last;
        list_remove(first);
        list_push_back(line, first);
        first = line->next;
    }
    return is_last ? NULL : LIST_ITEM(first, struct document, link);
}

/* Prefer the stream's line. */
static struct document *oldest_of_lane(struct lane *lane)
{
    struct document *doc = oldest_of_line(&lane->ready.line[LINE_STREAM]);

    return doc != NULL ? doc : oldest_of_line(&lane->ready.line[LINE_JOBS]);
}

static struct document *find_listed(const struct index_queue *o, const struct link *list,
                                    const struct wanted *want)
{
    LIST_EACH(l, list)
    if (may_give(o, LIST_ITEM(l, struct document, link), want))
        return LIST_ITEM(l, struct document, link);
    return NULL;
}

static struct document *find_in_lines(const struct index_queue *o, const struct lines *lines,
                                      const struct wanted *want)
{
    struct document *doc = find_listed(o, &lines->line[LINE_STREAM], want);

    return doc != NULL ? doc : find_listed(o, &lines->line[LINE_JOBS], want);
}

/* Search parked documents and parcels. */
static struct document *find_apart(const struct index_queue *o, const struct wanted *want)
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

/* All lost documents wait apart. */
static struct document *find_oldest(const struct index_queue *o, const struct wanted *want)
{
    struct document *doc = NULL;

    if (!want->lost)
        doc = oldest_of_lane(want->lane);
    if (doc == NULL && !want->lost)
        doc = find_in_lines(o, &o->loads, want);
    return doc != NULL ? doc : find_apart(o, want);
}

struct document *index_queue_take_oldest(struct index_queue *o, enum index_queue_share share,
                                         unsigned worker)
{
    struct document *doc;

    if (index_queue_purgeable(o, share, worker) == 0)
        return NULL;
    while (worker == INDEX_QUEUE_ANY) {
        const unsigned next = o->next_to_purge++ % o->opt.workers;

        if (o->lanes[next].n_may_go[share] > 0)
            worker = next;
    }
    doc = find_oldest(o,
                      &(struct wanted){.lane = &o->lanes[worker], .lost = share == SHARE_LOST});
    assert(doc != NULL);
    index_queue_remove(o, doc);
    return doc;
}

struct document *index_queue_take_large(struct index_queue *o, enum index_queue_share share)
{
    const struct wanted want = {.lost = share == SHARE_LOST, .large = true};
    struct document *doc = NULL;

    if (o->n_large[share] == 0)
        return NULL;
    for (unsigned i = 0; doc == NULL && i < o->opt.workers; i++)
        doc = find_in_lines(o, &o->lanes[i].ready, &want);
    if (doc == NULL)
        doc = find_in_lines(o, &o->loads, &want);
    if (doc == NULL)
        doc = find_apart(o, &want);
    assert(doc != NULL);
    index_queue_remove(o, doc);
    return doc;
}
