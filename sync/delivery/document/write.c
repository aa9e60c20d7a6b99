#include "config.h"

#include "sync/delivery/document/write.h"

#include "src/base/hash.h"
#include "src/base/mem.h"
#include "sync/checkpoint/ticket.h"
#include "sync/delivery/document/target.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A document's table entry with its share of the buckets, a ticket, malloc's overhead. */
#define COST_OVERHEAD 200
#define COST_WAITER   (sizeof(struct waiter) + 8)

uint64_t write_hash(struct str index, struct str routing, struct str id)
{
    uint64_t hash = hash_bytes(index, hash_seed());

    if (routing.len > 0)
        hash = hash_bytes(routing, hash);
    return hash_bytes(id, hash);
}

static size_t own_cost(const struct write *w)
{
    return sizeof(*w) + COST_OVERHEAD + w->id_len + w->routing_len + w->key_len + w->body_len;
}

size_t write_held(const struct write *w)
{
    return w->unheld ? 0 : w->cost;
}

struct allowance *write_account(const struct write *w)
{
    return w->is_large ? budget_large(w->allowance->budget) : w->allowance;
}

void write_count_for(struct write *w, struct allowance *of)
{
    w->allowance = of;
    w->is_large = of != NULL && budget_is_large(of->budget, w->cost);
}

void write_ends_take(struct write_ends *ends, struct allowance *a, size_t n)
{
    ends->taken += n;
    if (a != NULL)
        a->taken += n;
}

void write_ends_free(struct write_ends *ends, struct allowance *a, size_t n)
{
    ends->freed += n;
    if (a != NULL)
        a->freed += n;
}

/* Account for a change of the bytes held, from `before` to now. */
static void settle(const struct write *w, size_t before, struct write_ends *ends)
{
    const size_t now = write_held(w);

    if (before > now)
        write_ends_free(ends, write_account(w), before - now);
    else
        write_ends_take(ends, write_account(w), now - before);
}

static char *put(char *to, struct str s)
{
    if (s.len > 0)
        memcpy(to, s.ptr, s.len);
    return to + s.len;
}

/* Uses malloc without clearing: it sets every field and writes every byte. */
static struct write *make(struct str id, struct str routing, struct str key, struct str body)
{
    const bool unfit = id.len == 0 || id.len > WRITE_ID_MAX || body.len > WRITE_BODY_MAX;

    assert(id.len < UINT32_MAX && routing.len < UINT32_MAX && key.len < UINT32_MAX);
    if (body.len > WRITE_BODY_MAX)
        body = (struct str){0};

    size_t len = id.len + routing.len + key.len + body.len;
    struct write *w = mem_resize(NULL, sizeof(*w) + len, 1);

    *w = (struct write){
        .last_waiter = &w->waiter,
        .id_len = (uint32_t)id.len,
        .routing_len = (uint32_t)routing.len,
        .key_len = (uint32_t)key.len,
        .body_len = (uint32_t)body.len,
        .unfit = unfit,
    };
    w->cost = own_cost(w);
    put(put(put(put(w->bytes, id), routing), key), body);
    return w;
}

struct write *write_new(const struct doc_write *in)
{
    struct str body = in->op == DOC_INDEX || in->op == DOC_UPDATE ? in->body : (struct str){0};
    struct write *w = make(in->id, in->routing, in->key, body);

    w->target = in->target;
    w->waiter.ticket = in->ticket;
    w->waiter.commit_ms = in->commit_ms;
    w->hash = write_hash(str_from(in->target->index), in->routing, in->id);
    w->version = in->version;
    w->op = (uint8_t)in->op;
    w->strict = in->strict;
    w->gathered = in->gathered;
    w->reread = in->reread;
    w->fresh = in->fresh;
    w->stored = in->stored;
    w->area = in->area;
    return w;
}

void write_widen(struct write *w)
{
    assert(w->area > 0);
    w->op = DOC_REFRESH;
    w->area = 0;
    w->reread = false;
    w->ambiguous = false;
}

void write_rise_above(struct write *w, uint64_t lost)
{
    if (w->fresh && w->version <= lost) {
        w->version = lost + (lost - w->version < FRESH_RISE_MAX);
    } else if (w->op != DOC_REFRESH && !w->strict && w->version == lost) {
        w->op = DOC_REFRESH;
        w->reread = false;
        w->version++;
    }
}

static bool waits(const struct waiter *x)
{
    return x->ticket != NULL || x->commit_ms != 0;
}

static void free_write(struct write *w)
{
    target_unref(w->target);
    free(w);
}

static void tell_gone(const struct write *w, struct write_ends *ends)
{
    if (ends->on_gone != NULL && !w->aside)
        ends->on_gone(ends->ctx, w->worker);
}

static void take_over(struct write *winner, struct write *loser, struct write_ends *ends)
{
    const size_t before = write_held(winner);

    winner->stored = winner->stored && loser->stored;
    winner->gathered = winner->gathered || loser->gathered;
    if (winner->op == DOC_REFRESH) {
        winner->fresh = winner->fresh || loser->fresh;
        if (loser->version > winner->version)
            winner->version = loser->version;
    }
    if (loser->waiter.next != NULL) {
        winner->last_waiter->next = loser->waiter.next;
        winner->last_waiter = loser->last_waiter;
        winner->cost += loser->cost - own_cost(loser);
    }
    if (waits(&loser->waiter) && !waits(&winner->waiter)) {
        winner->waiter.ticket = loser->waiter.ticket;
        winner->waiter.commit_ms = loser->waiter.commit_ms;
    } else if (waits(&loser->waiter)) {
        struct waiter *x = mem_alloc(1, sizeof(*x));

        x->ticket = loser->waiter.ticket;
        x->commit_ms = loser->waiter.commit_ms;
        winner->last_waiter->next = x;
        winner->last_waiter = x;
        winner->cost += COST_WAITER;
    }
    settle(winner, before, ends);
    write_ends_free(ends, write_account(loser), write_held(loser));
    free_write(loser);
}

struct write *write_of_read(struct write *refresh, uint64_t stamp, struct str body,
                            struct write_ends *ends)
{
    struct write *w = make(write_id(refresh), write_routing(refresh), write_key(refresh), body);

    assert(refresh->op == DOC_REFRESH && (refresh->area == 0 || body.ptr != NULL));
    w->target = target_ref(refresh->target);
    w->hash = refresh->hash;
    w->worker = refresh->worker;
    w->version = stamp;
    w->op = refresh->area > 0 ? DOC_UPDATE : body.ptr == NULL ? DOC_DELETE : DOC_INDEX;
    w->area = refresh->area;
    w->reread = true;
    w->fresh = refresh->fresh;
    w->stored = refresh->stored;
    w->aside = refresh->aside;
    write_count_for(w, refresh->allowance);
    write_ends_take(ends, write_account(w), w->cost);
    take_over(w, refresh, ends); /* w takes its place, so nothing is gone */
    return w;
}

void write_stand_aside(struct write *w, struct write_ends *ends)
{
    const size_t before = write_held(w);

    assert(w->op == DOC_REFRESH);
    tell_gone(w, ends);
    w->aside = w->unheld = true;
    settle(w, before, ends);
}

/* If a waiting read stands for one that waits for the stream, it waits for the stream, too. */
void write_join(struct write *winner, struct write *loser, struct write_ends *ends)
{
    const bool waits_on = loser->aside && loser->op == DOC_REFRESH;

    tell_gone(loser, ends);
    take_over(winner, loser, ends);
    if (waits_on && winner->op == DOC_REFRESH)
        write_stand_aside(winner, ends);
}

static void end_waiter(const struct write *w, struct waiter *x, enum outcome how,
                       struct write_ends *ends)
{
    if (!waits(x))
        return;
    ends->ended[how]++;
    if (ends->on_end != NULL)
        ends->on_end(ends->ctx, w, x, how);
    if (x->ticket != NULL)
        ticket_done(x->ticket, how);
    x->ticket = NULL;
    x->commit_ms = 0;
}

void write_release_waiters(struct write *w, enum outcome how, struct write_ends *ends)
{
    const size_t before = write_held(w);
    struct waiter *next;

    end_waiter(w, &w->waiter, how, ends);
    for (struct waiter *x = w->waiter.next; x != NULL; x = next) {
        next = x->next;
        end_waiter(w, x, how, ends);
        free(x);
    }
    w->cost = own_cost(w);
    w->waiter.next = NULL;
    w->last_waiter = &w->waiter;
    settle(w, before, ends);
}

size_t write_count_tickets(const struct write *w)
{
    size_t n = 0;

    for (const struct waiter *x = &w->waiter; x != NULL; x = x->next)
        n += x->ticket != NULL;
    return n;
}

void write_hold_tickets(struct write *w, struct ticket **out, struct write_ends *ends)
{
    size_t n = 0;

    for (struct waiter *x = &w->waiter; x != NULL; x = x->next) {
        if (x->ticket != NULL)
            out[n++] = ticket_hold(x->ticket);
        x->commit_ms = 0; /* not acknowledged */
    }
    write_release_waiters(w, OUTCOME_DELIVERED, ends);
}

void write_share_tickets(const struct write *w, struct ticket **out)
{
    size_t n = 0;

    for (const struct waiter *x = &w->waiter; x != NULL; x = x->next)
        if (x->ticket != NULL)
            out[n++] = ticket_hold(x->ticket);
}

void write_end(struct write *w, enum outcome how, struct write_ends *ends)
{
    write_release_waiters(w, how, ends);
    tell_gone(w, ends);
    write_ends_free(ends, write_account(w), write_held(w));
    free_write(w);
}

void write_abandon(struct write *w, struct write_ends *ends)
{
    struct waiter *next;

    if (w->waiter.ticket != NULL)
        ticket_abandon(w->waiter.ticket);
    for (struct waiter *x = w->waiter.next; x != NULL; x = next) {
        next = x->next;
        if (x->ticket != NULL)
            ticket_abandon(x->ticket);
        free(x);
    }
    tell_gone(w, ends);
    write_ends_free(ends, write_account(w), write_held(w));
    free_write(w);
}
