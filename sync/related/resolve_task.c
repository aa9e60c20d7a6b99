#include "config.h"

#include "sync/related/resolve_task.h"

#include "src/base/arena.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/store/later/snapshot.h"
#include "sync/checkpoint/ticket.h"
#include "sync/delivery/document/target.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct resolve_task *resolve_task_new(struct target *target, size_t place, uint8_t area,
                                      unsigned by)
{
    struct resolve_task *t = mem_alloc(1, sizeof(*t));

    *t = (struct resolve_task){.target = target,
                               .place = place,
                               .area = area,
                               .by = by,
                               .n_tasks = 1,
                               .arena = arena_new()};
    t->join_keys = arena_alloc(t->arena, RESOLVE_MAX, sizeof(*t->join_keys));
    t->tickets = arena_alloc(t->arena, RESOLVE_MAX, sizeof(struct ticket *));
    return t;
}

void resolve_task_free(struct resolve_task *t)
{
    target_unref(t->target);
    arena_free(t->arena);
    free(t);
}

void resolve_task_add(struct resolve_task *t, struct str key, struct ticket *ticket)
{
    assert(t->n < RESOLVE_MAX);
    t->join_keys[t->n] = arena_copy(t->arena, key);
    t->tickets[t->n++] = ticket;
}

void resolve_task_delay(struct resolve_task *t, struct str table)
{
    t->delayed = arena_copy(t->arena, table);
    t->rows = arena_alloc(t->arena, RESOLVE_MAX, sizeof(*t->rows));
}

void resolve_task_put_off(struct resolve_task *t, struct str key,
                          const struct snapshot_row *row, struct ticket *ticket)
{
    t->rows[t->n] = (struct snapshot_row){.op = arena_copy(t->arena, row->op),
                                          .row_id = arena_copy(t->arena, row->row_id),
                                          .row_json = arena_copy(t->arena, row->row_json),
                                          .was = row->was};
    resolve_task_add(t, key, ticket);
}

bool resolve_task_take(struct resolve_task *t, struct resolve_task *from)
{
    if (t->target != from->target || t->place != from->place || t->area != from->area ||
        t->by != from->by || !str_equal(t->delayed, from->delayed) ||
        t->n + from->n > RESOLVE_MAX)
        return false;
    for (size_t i = 0; i < from->n; i++)
        if (t->delayed.len > 0)
            resolve_task_put_off(t, from->join_keys[i], &from->rows[i], from->tickets[i]);
        else
            resolve_task_add(t, from->join_keys[i], from->tickets[i]);
    if (from->at_least > t->at_least)
        t->at_least = from->at_least;
    t->n_tasks += from->n_tasks;
    resolve_task_free(from);
    return true;
}

void resolve_task_abandon(struct resolve_task *t)
{
    for (size_t i = 0; i < t->n; i++)
        ticket_abandon(t->tickets[i]);
}

struct resolve_keys resolve_task_keys(const struct resolve_task *t)
{
    struct map *seen = map_new(); /* last row of each key, from 1 */
    struct resolve_keys k = {.keys = arena_alloc(t->arena, t->n, sizeof(*k.keys)),
                             .first = arena_alloc(t->arena, t->n, sizeof(*k.first)),
                             .next = arena_alloc(t->arena, t->n, sizeof(*k.next))};

    for (size_t i = 0; i < t->n; i++) {
        const uintptr_t before =
            (uintptr_t)map_put(seen, t->join_keys[i], (void *)(uintptr_t)(i + 1));

        k.next[i] = i;
        if (before != 0) {
            k.next[before - 1] = i;
            continue;
        }
        k.keys[k.n] = t->join_keys[i];
        k.first[k.n++] = i;
    }
    map_free(seen, NULL);
    return k;
}
