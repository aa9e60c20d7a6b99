#include "config.h"

#include "sync/related/cascade/rows.h"

#include "src/base/arena.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/document/key.h"

#include <stdlib.h>
#include <string.h>

/* The waiting tickets.  Freed when the last document found has completed. */
struct cascade_follow {
    enum magic magic;
    struct cascade_hold *holds;
    size_t n, cap;
    bool any; /* something was found */
};

struct cascade_rows *cascade_rows_new(const struct cascade_origin *from, size_t step)
{
    struct cascade_rows *r = mem_alloc(1, sizeof(*r));
    const struct cascade_effect *f = &from->table->on[from->cause];

    r->from = *from;
    routing_ref(from->routing);
    r->step = step;
    r->arena = arena_new();
    r->values = arena_alloc(r->arena, f->n_keys, sizeof(*r->values));
    for (size_t k = 0; k < f->n_keys; k++)
        r->values[k] = arena_alloc(r->arena, f->keys[k].n_columns, sizeof(struct cascade_list));
    r->follow = mem_alloc(1, sizeof(*r->follow));
    r->follow->magic = MAGIC_cascade_follow;
    return r;
}

const struct cascade_effect *cascade_rows_effect(const struct cascade_rows *r)
{
    return &r->from.table->on[r->from.cause];
}

struct target *cascade_rows_target(const struct cascade_rows *r)
{
    return r->from.routing->targets[cascade_rows_effect(r)->steps[r->step].target];
}

static void free_follow(struct cascade_follow *f)
{
    free(f->holds);
    MAGIC_END(cascade_follow, f);
    free(f);
}

static void on_followed(void *ctx, enum outcome worst)
{
    struct cascade_follow *f = MAGIC_CAST(cascade_follow, ctx);

    for (size_t i = 0; i < f->n; i++)
        ticket_release(f->holds[i].ticket, f->any ? worst : f->holds[i].idle);
    free_follow(f);
}

static void on_abandoned(void *ctx)
{
    struct cascade_follow *f = MAGIC_CAST(cascade_follow, ctx);

    for (size_t i = 0; i < f->n; i++)
        ticket_release_abandoned(f->holds[i].ticket);
    free_follow(f);
}

void cascade_rows_free(struct cascade_rows *r)
{
    if (r->ticket != NULL)
        ticket_abandon(r->ticket);
    else if (r->follow != NULL)
        on_abandoned(r->follow);
    routing_unref(r->from.routing);
    arena_free(r->arena);
    free(r);
}

bool cascade_rows_take(const struct cascade_rows *r, const struct cascade_origin *from,
                       size_t step)
{
    return r->from.table == from->table && r->from.cause == from->cause && r->step == step &&
           r->from.swept == from->swept && r->ticket == NULL && r->n < LOOKUP_MAX;
}

static void add_value(struct cascade_rows *r, struct cascade_list *list, struct str text)
{
    if (list->n > 0 && str_equal(list->texts[list->n - 1], text))
        return;
    if (list->n == list->cap) {
        const size_t cap = list->cap == 0 ? 4 : list->cap * 2;
        struct str *more = arena_alloc(r->arena, cap, sizeof(*more));

        if (list->n > 0)
            memcpy(more, list->texts, list->n * sizeof(*more));
        list->texts = more;
        list->cap = cap;
    }
    list->texts[list->n++] = arena_copy(r->arena, text);
}

/* Keep one hold per ticket, though its change may have many rows. */
static void add_hold(struct cascade_follow *f, struct cascade_hold hold)
{
    if (f->n > 0 && f->holds[f->n - 1].ticket == hold.ticket) {
        ticket_release(hold.ticket, OUTCOME_DELIVERED);
        return;
    }
    if (f->n == f->cap) {
        f->cap = f->cap == 0 ? 4 : f->cap * 2;
        f->holds = mem_resize(f->holds, f->cap, sizeof(*f->holds));
    }
    f->holds[f->n++] = hold;
}

void cascade_rows_add(struct cascade_rows *r, const struct cascade_origin *from,
                      const struct str *keys, struct cascade_hold hold)
{
    const struct cascade_effect *f = cascade_rows_effect(r);

    if (from->at_least > r->from.at_least)
        r->from.at_least = from->at_least;
    if (from->commit_ms > r->from.commit_ms)
        r->from.commit_ms = from->commit_ms;
    for (size_t k = 0; k < f->n_keys; k++) {
        struct str key = keys[k], part;

        for (size_t c = 0; c < f->keys[k].n_columns && key_next(&key, &part); c++)
            add_value(r, &r->values[k][c], part);
    }
    r->n++;
    if (hold.ticket != NULL)
        add_hold(r->follow, hold);
}

struct ticket *cascade_rows_ticket(struct cascade_rows *r)
{
    if (r->ticket == NULL) {
        r->ticket = ticket_new_cb(on_followed, r->follow);
        ticket_on_abandon(r->ticket, on_abandoned);
    }
    return r->ticket;
}

void cascade_rows_found(struct cascade_rows *r)
{
    r->follow->any = true;
}

void cascade_rows_end(struct cascade_rows *r)
{
    struct ticket *ticket = r->ticket;

    r->ticket = NULL;
    r->follow = NULL;
    ticket_done(ticket, OUTCOME_DELIVERED);
}

void cascade_rows_give_up(struct cascade_rows *r, enum outcome how)
{
    r->follow->any = true;
    if (r->ticket != NULL) {
        struct ticket *ticket = r->ticket;

        r->ticket = NULL;
        r->follow = NULL;
        ticket_done(ticket, how);
        return;
    }
    on_followed(r->follow, how);
    r->follow = NULL;
}

bool cascade_step_counts(const struct cascade_step *s, const struct str *keys)
{
    for (size_t i = 0; i < s->n_looks; i++)
        if (keys[s->looks[i].key].len > 0)
            return true;
    return false;
}
