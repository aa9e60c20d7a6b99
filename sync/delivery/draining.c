#include "config.h"

#include "sync/delivery/draining.h"

#include "sync/delivery/document/document_table.h"
#include "sync/delivery/document/write.h"
#include "sync/delivery/index/index_queue.h"
#include "sync/delivery/index/worker_backlog.h"
#include "sync/delivery/sender.h"

#include <stdio.h>
#include <string.h>

/* The least time between checks of one partition, each of which walks the whole table. */
#define LOOK_MS 10

/* Returns what a document is counted to: the drained index, if it is that one's, or its worker.
 */
static unsigned partition_of(const struct draining *d, const struct sender *s,
                             const char *index, uint64_t hash)
{
    if (d->drain.partition == DRAIN_INDEX && strcmp(index, d->index) == 0)
        return DRAIN_INDEX;
    return (unsigned)(hash % s->opt.settings.workers);
}

bool draining_keeps(struct draining *d, const struct sender *s, struct write *w)
{
    if (!drain_is_on(&d->drain) ||
        !drain_covers(&d->drain, partition_of(d, s, w->target->index, w->hash)))
        return false;
    *d->last = w;
    d->last = &w->next;
    d->n++;
    return true;
}

bool draining_has(const struct draining *d, struct str index, struct str id)
{
    for (const struct write *w = d->first; w != NULL; w = w->next)
        if (str_equal(write_id(w), id) && str_equal(str_from(w->target->index), index))
            return true;
    return false;
}

static void say(const struct draining *d, struct sender *s)
{
    const bool withholds = d->drain.state == DRAIN_STATE_CANCELLING;
    const bool is_of_index = d->drain.partition == DRAIN_INDEX;
    const unsigned lane =
        is_of_index || d->drain.partition == DRAIN_ALL ? INDEX_QUEUE_ALL : d->drain.partition;
    const struct index_queue *only =
        is_of_index ? index_queues_find(&s->index_queues, str_from(d->index)) : NULL;

    s->draining = d->drain.state == DRAIN_STATE_GOING && (!is_of_index || only != NULL);
    s->drains = only;
    for (size_t i = 0; i < s->index_queues.n; i++) {
        struct index_queue *o = s->index_queues.items[i];
        const bool is_drained = !is_of_index || o == only;

        index_queue_withhold(o, withholds && is_drained ? lane : INDEX_QUEUE_NONE);
    }
}

bool draining_begin(struct draining *d, struct sender *s, unsigned partition, const char *index,
                    int64_t timeout_ms)
{
    if (!drain_begin(&d->drain, partition, s->now_ms, timeout_ms,
                     s->opt.settings.drain_cancel_timeout_ms))
        return false;
    d->first = NULL;
    d->last = &d->first;
    d->n = 0;
    d->looked_ms = 0;
    snprintf(d->index, sizeof(d->index), "%s", partition == DRAIN_INDEX ? index : "");
    say(d, s);
    return true;
}

void draining_cancel(struct draining *d, struct sender *s)
{
    drain_cancel(&d->drain, s->now_ms);
    d->looked_ms = 0;
    say(d, s);
}

void draining_move(struct draining *d, const struct sender *s)
{
    if (d->drain.partition != DRAIN_INDEX)
        d->drain.partition = DRAIN_ALL;
    for (struct write *w = d->first; w != NULL; w = w->next)
        worker_backlog_move(s->backlog, w);
}

static bool takes_nothing(struct index_queue *o)
{
    return gate_is_blown(index_queue_gate(o)) || index_queue_is_told(o);
}

/* If the index takes a part of its documents, count only those it does not take. */
static size_t kept_back(struct index_queue *o)
{
    const struct index_queue_level level = index_queue_level(o);

    if (!takes_nothing(o))
        return 0;
    if (!gate_is_blown(index_queue_gate(o)) && index_queue_partly(o)->since_ms != 0)
        return level.lost;
    return level.ready + level.load_wait + level.parked + level.in_flight;
}

static bool is_kept_back(const struct document *doc)
{
    if (!gate_is_blown(index_queue_gate(doc->index_queue)) &&
        index_queue_partly(doc->index_queue)->since_ms != 0)
        return doc->is_lost;
    return takes_nothing(doc->index_queue);
}

static struct drain_left left_of_all(const struct sender *s)
{
    struct drain_left left = {.n = document_table_count(s->table),
                              .n_blown = letters_kept_back(s->letters, NULL, NULL)};

    for (size_t i = 0; i < s->index_queues.n; i++) {
        const struct index_queue_level level = index_queue_level(s->index_queues.items[i]);

        left.n_in_flight += level.in_flight;
        left.n_blown += kept_back(s->index_queues.items[i]);
    }
    return left;
}

/* A partition that is drained, of a sender. */
struct drained_part {
    const struct draining *d;
    const struct sender *s;
};

static bool is_of_part(const void *ctx, const struct document *doc)
{
    const struct drained_part *p = ctx;

    return partition_of(p->d, p->s, index_queue_target(doc->index_queue)->index, doc->hash) ==
           p->d->drain.partition;
}

static struct drain_left left_of_one(const struct draining *d, const struct sender *s)
{
    const struct drained_part part = {.d = d, .s = s};
    struct document_cursor at = {0};
    struct drain_left left = {.n_blown = letters_kept_back(s->letters, is_of_part, &part)};
    const struct document *doc;

    while ((doc = document_table_next(s->table, &at)) != NULL) {
        if (!is_of_part(&part, doc))
            continue;
        left.n++;
        left.n_in_flight += doc->state == DOCUMENT_IN_FLIGHT;
        left.n_blown += doc->state != DOCUMENT_LOADING && doc->state != DOCUMENT_REFUSED &&
                        is_kept_back(doc);
    }
    return left;
}

static void follow(struct draining *d, struct sender *s)
{
    struct write *w = d->first;

    d->first = NULL;
    d->last = &d->first;
    d->n = 0;
    while (w != NULL) {
        struct write *next = w->next;

        w->next = NULL;
        sender_accept(s, w);
        w = next;
    }
}

static void count(struct sender *s, enum drain_end end, int64_t took_ms)
{
    delivery_metric_count(s->metric, COUNT_DRAINS, 1);
    delivery_metric_time(s->metric, TIME_DRAIN, took_ms * 1000);
    if (end != DRAIN_DONE)
        delivery_metric_count(s->metric, COUNT_DRAIN_FAILURES, 1);
    if (end == DRAIN_TIMED_OUT || end == DRAIN_CANCEL_TIMED_OUT)
        delivery_metric_count(s->metric, COUNT_DRAIN_TIMEOUTS, 1);
    if (end == DRAIN_CANCEL_TIMED_OUT)
        delivery_metric_count(s->metric, COUNT_DRAIN_CANCEL_TIMEOUTS, 1);
}

static void tell(const struct sender *s, enum drain_end end, int64_t took_ms)
{
    struct err why;

    if (s->opt.event == NULL)
        return;
    err_set(&why, ERR_RETRY, "%s", drain_end_name(end));
    s->opt.event(s->opt.ctx, DELIVERY_DRAINED, NULL, (uint64_t)took_ms,
                 end == DRAIN_DONE ? NULL : &why);
}

enum drain_end draining_turn(struct draining *d, struct sender *s)
{
    const unsigned partition = d->drain.partition;
    const int64_t took_ms = s->now_ms - d->drain.began_ms;

    if (!drain_is_on(&d->drain) ||
        (partition != DRAIN_ALL && s->now_ms - d->looked_ms < LOOK_MS))
        return DRAIN_GOING;
    d->looked_ms = s->now_ms;

    const struct drain_left left = partition == DRAIN_ALL ? left_of_all(s) : left_of_one(d, s);
    const enum drain_end end = drain_look(&d->drain, &left, s->now_ms);

    say(d, s);
    if (end == DRAIN_GOING)
        return end;
    follow(d, s);
    if (partition != DRAIN_INDEX) { /* nobody has asked for these, each hour */
        count(s, end, took_ms);
        tell(s, end, took_ms);
    }
    return end;
}

int64_t draining_wait_ms(const struct draining *d, const struct sender *s, int64_t max_ms)
{
    int64_t wait_ms;

    if (!drain_is_on(&d->drain))
        return max_ms;
    wait_ms = drain_due_ms(&d->drain) - s->now_ms;
    if (d->drain.partition != DRAIN_ALL && wait_ms > LOOK_MS)
        wait_ms = LOOK_MS;
    if (wait_ms < 0)
        wait_ms = 0;
    return wait_ms < max_ms ? wait_ms : max_ms;
}

void draining_forget(struct draining *d, struct sender *s, struct str index, enum outcome how)
{
    struct write **at = &d->first;

    while (*at != NULL) {
        struct write *w = *at;

        if (!str_equal(str_from(w->target->index), index)) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        w->next = NULL;
        d->n--;
        write_end(w, how, &s->ends);
    }
    d->last = at;
}

void draining_give_up(struct draining *d, struct sender *s)
{
    while (d->first != NULL) {
        struct write *w = d->first;

        d->first = w->next;
        w->next = NULL;
        write_abandon(w, &s->ends);
    }
}
