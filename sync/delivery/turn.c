#include "config.h"

#include "sync/delivery/turn.h"

#include "sync/delivery/document/delete_repeater.h"
#include "sync/delivery/neighbours_ask.h"
#include "sync/delivery/outcome.h"
#include "sync/delivery/sender.h"

#define ROOM_SHARE     8 /* 1/ROOM_SHARE of the bytes is to be free after a purge */
#define PURGED_TOLD_MS 10000

/*
 * Drop what came back, or came later, for an index that is gone.  Reopen its gate, which empty
 * parts of a bisection must still pass.
 */
static void forget_gone(struct sender *s)
{
    for (size_t i = 0; i < s->index_queues.n; i++) {
        struct index_queue *o = s->index_queues.items[i];
        const struct index_queue_level level = index_queue_level(o);

        if (!index_queue_is_gone(o) || level.ready + level.load_wait + level.parked == 0)
            continue;
        sender_forget(s, index_queue_index(o), OUTCOME_DEFERRED);
        gate_drop(index_queue_gate(o), s->now_ms);
    }
}

/* Hold the index whose dead letters find no room.  Probe all once there is room again. */
static void look_at_letters(struct sender *s, bool were_full)
{
    const struct err *full = letters_are_full(s->letters);

    if (were_full && full == NULL)
        sender_probe(s);
    if (!were_full && full != NULL)
        index_health_hold(&s->health, letters_first(s->letters)->index_queue, CURE_LETTERS,
                          full);
}

/* Loaders may read more than there was room for, so the bytes of results are taken by force. */
void sender_settle(struct sender *s)
{
    if (s->ends.taken + s->ends.freed > 0)
        budget_settle(s->budget);
    s->ends.taken = s->ends.freed = 0;
}

/* The room that blocked submitters need. */
static struct load_shedding_need needed(struct sender *s)
{
    sender_settle(s);
    return (struct load_shedding_need){
        .bytes_over = budget_excess(s->budget, load_shedding_bytes(s->shedding),
                                    budget_max(s->budget) / ROOM_SHARE),
        .large = budget_waits_for_large(s->budget)};
}

static void tell_purged(struct sender *s, struct index_queue *o)
{
    struct index_queue_purged *p = index_queue_purged(o);

    if (p->n == 0 || s->now_ms < p->told_ms + PURGED_TOLD_MS)
        return;
    if (s->opt.event != NULL)
        s->opt.event(s->opt.ctx, DELIVERY_PURGED, index_queue_target(o), p->n, NULL);
    *p = (struct index_queue_purged){.told_ms = s->now_ms};
}

/* Make room if an index that takes nothing fills the queues. */
static void relieve(struct sender *s)
{
    const struct load_shedding_need need = needed(s);
    struct document *doc;

    load_shedding_turn(s->shedding, &s->index_queues, &need, s->now_ms);
    while ((doc = load_shedding_next(s->shedding)) != NULL)
        outcome_purge(s, doc);
    for (size_t i = 0; i < s->index_queues.n; i++)
        tell_purged(s, s->index_queues.items[i]);
}

static void repeat_deletes(struct sender *s)
{
    struct worker_backlog_turn turn; /* the delivery thread may not wait */
    struct write *w;

    while ((w = delete_repeater_next(s->repeater, s->now_ms)) != NULL) {
        worker_backlog_enter(s->backlog, w, &turn);
        sender_accept(s, w);
    }
}

void sender_turn(struct sender *s)
{
    struct document *doc;

    forget_gone(s);
    neighbours_turn(s);
    guests_turn(&s->guests, s->now_ms);
    for (size_t i = 0; i < s->index_queues.n; i++) {
        index_health_look(&s->health, s->index_queues.items[i]);
        index_queue_turn(s->index_queues.items[i], s->now_ms);
    }

    const bool were_full = letters_are_full(s->letters) != NULL;

    while ((doc = letters_next(s->letters, s->now_ms)) != NULL)
        outcome_bury(s, doc);
    look_at_letters(s, were_full);
    letters_turn(s->letters, s->now_ms);
    relieve(s);
    repeat_deletes(s);
    sender_settle(s);
}

bool sender_may_send(const struct sender *s)
{
    return helpers_are_free(&s->helpers);
}

/* Results of reads and bodies of requests use the bytes that submitters leave. */
bool sender_has_room(const struct sender *s, const struct index_queue *o, size_t coming)
{
    const size_t left = s->opt.settings.bytes_max - budget_max(s->budget);

    return budget_has_room(index_queue_allowance(o), coming < left ? left - coming : 0);
}

bool sender_may_send_to(const struct sender *s, const struct index_queue *o)
{
    const bool goes_without = index_queue_level(o).requests == 0 && s->n_without_room == 0;

    return helpers_may_send_to(&s->helpers, o, s->index_queues.n == 1) &&
           (goes_without || sender_has_room(s, o, 0));
}

bool sender_drains(const struct sender *s, const struct index_queue *o)
{
    return s->draining && (s->drains == NULL || s->drains == o);
}

int64_t sender_wait_ms(const struct sender *s, int64_t max_ms)
{
    const bool can_send = sender_may_send(s);
    int64_t wait_ms = letters_wait_ms(s->letters, s->now_ms,
                                      load_shedding_wait_ms(s->shedding, s->now_ms, max_ms));

    wait_ms = delete_repeater_wait_ms(s->repeater, s->now_ms, wait_ms);

    for (size_t i = 0; i < s->index_queues.n; i++)
        wait_ms = index_queue_wait_ms(
            s->index_queues.items[i], s->now_ms,
            can_send && sender_may_send_to(s, s->index_queues.items[i]), wait_ms);
    return wait_ms;
}

bool sender_is_stuck(const struct sender *s)
{
    size_t n_held = letters_kept_back(s->letters, NULL, NULL);

    for (size_t i = 0; i < s->index_queues.n; i++) {
        const struct index_queue_level level = index_queue_level(s->index_queues.items[i]);

        if (index_queue_is_told(s->index_queues.items[i]) && level.requests == 0)
            n_held += level.ready + level.load_wait + level.parked;
    }
    return n_held == document_table_count(s->table);
}
