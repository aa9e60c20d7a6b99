#include "config.h"

#include "sync/cascade_going.h"

#include "src/base/arena.h"
#include "src/base/mem.h"

#include <stdlib.h>

struct going *going_new(const struct gone_row *row)
{
    struct going *g = mem_alloc(1, sizeof(*g));

    g->target = target_ref(row->target);
    g->stamp = row->stamp;
    g->log_end = row->log_end;
    g->depth = row->depth;
    g->arena = arena_new();
    return g;
}

bool going_takes(const struct going *g, const struct gone_row *row)
{
    return g->target == row->target && g->stamp == row->stamp && g->log_end == row->log_end &&
           g->depth == row->depth && g->n < GOING_MAX;
}

static void add_ticket(struct going *g, struct ticket *ticket)
{
    if (g->n_tickets > 0 && g->tickets[g->n_tickets - 1] == ticket) {
        ticket_release(ticket, OUTCOME_DELIVERED);
        return;
    }
    if (g->n_tickets == g->tickets_cap) {
        g->tickets_cap = g->tickets_cap == 0 ? 4 : g->tickets_cap * 2;
        g->tickets = mem_resize(g->tickets, g->tickets_cap, sizeof(struct ticket *));
    }
    g->tickets[g->n_tickets++] = ticket;
}

void going_add(struct going *g, const struct gone_row *row)
{
    if (g->n == g->cap) {
        g->cap = g->cap == 0 ? 4 : g->cap * 2;
        g->docs = mem_resize(g->docs, g->cap, sizeof(*g->docs));
    }
    g->docs[g->n++] = (struct going_document){.id = arena_copy(g->arena, row->id),
                                              .routing = arena_copy(g->arena, row->routing),
                                              .key = arena_copy(g->arena, row->key)};
    for (size_t i = 0; i < row->n_tickets; i++)
        add_ticket(g, row->tickets[i]);
}

static void free_going(struct going *g)
{
    target_unref(g->target);
    arena_free(g->arena);
    free(g->tickets);
    free(g->docs);
    free(g);
}

void going_end(struct going *g, enum outcome how)
{
    for (size_t i = 0; i < g->n_tickets; i++)
        ticket_release(g->tickets[i], how);
    free_going(g);
}

void going_abandon(struct going *g)
{
    for (size_t i = 0; i < g->n_tickets; i++)
        ticket_release_abandoned(g->tickets[i]);
    free_going(g);
}
