#include "config.h"

#include "sync/cascade_parts.h"

#include "src/base/arena.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "sync/document/key.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_MAX ((size_t)8 << 20) /* bytes of rows to be followed */

struct following *cascades_following(struct cascades *c, struct str index)
{
    struct following *f = map_find(c->indexes, index);

    if (f != NULL)
        return f;
    f = mem_alloc(1, sizeof(*f));
    f->index = mem_alloc(index.len + 1, 1);
    memcpy(f->index, index.ptr, index.len);
    f->last = &f->first;
    f->next = c->all;
    c->all = f;
    map_put(c->indexes, index, f);
    return f;
}

struct turnstile *cascades_turnstile(struct cascades *c, struct str index)
{
    pthread_mutex_lock(&c->lock);

    struct turnstile *t = &cascades_following(c, index)->turnstile;

    pthread_mutex_unlock(&c->lock);
    return t;
}

void cascades_set_routing(struct cascades *c, struct routing *routing)
{
    for (size_t i = 0; i < routing->n_targets; i++)
        ((struct reading *)routing->targets[i]->plan)->turnstile =
            cascades_turnstile(c, str_from(routing->targets[i]->index));
    pthread_mutex_lock(&c->lock);

    struct routing *old = c->routing;

    c->routing = routing_ref(routing);
    pthread_mutex_unlock(&c->lock);
    routing_unref(old);
}

size_t cascades_pending(struct cascades *c)
{
    pthread_mutex_lock(&c->lock);

    const size_t n = c->pending;

    pthread_mutex_unlock(&c->lock);
    return n;
}

void cascades_mark(struct cascades *c, const struct target *target, const char *reason)
{
    pthread_mutex_lock(&c->lock);

    struct following *f = cascades_following(c, str_from(target->index));
    const bool was = f->marked;

    f->marked = true;
    pthread_mutex_unlock(&c->lock);
    if (!was)
        c->opt.mark(c->opt.ctx, target, reason);
}

/* ---- rows come ---- */

void cascades_count(struct cascades *c, size_t more, size_t less)
{
    __atomic_store_n(&c->waiting, c->waiting + more - less, __ATOMIC_RELAXED);
}

static struct cascade_rows *find_rows(struct cascade_rows *list,
                                      const struct cascade_origin *from, size_t step)
{
    while (list != NULL && !cascade_rows_take(list, from, step))
        list = list->next;
    return list;
}

void cascades_append(struct following *f, struct cascade_rows *r)
{
    r->next = NULL;
    *f->last = r;
    f->last = &r->next;
}

/* Under the lock: joins rows of the same kind that wait. */
static void queue_row(struct cascades *c, const struct cascade_origin *from, size_t step,
                      const struct str *keys, struct cascade_hold hold)
{
    const struct cascade_effect *effect = &from->table->on[from->cause];
    const struct target *target = from->routing->targets[effect->steps[step].target];
    struct following *f = cascades_following(c, str_from(target->index));
    struct cascade_rows *r = find_rows(from->ahead ? f->later : f->first, from, step);

    if (r == NULL) {
        r = cascade_rows_new(from, step);
        c->pending++;
        if (from->ahead) {
            r->next = f->later;
            f->later = r;
        } else {
            cascades_append(f, r);
        }
    }
    cascade_rows_add(r, from, keys, hold);
    cascades_count(c, arena_size(r->arena), r->cost);
    r->cost = arena_size(r->arena);
}

void cascades_mark_blind(struct cascades *c, const struct cascade_origin *from)
{
    const struct cascade_effect *effect = &from->table->on[from->cause];

    for (size_t i = 0; i < effect->n_blind; i++)
        cascades_mark(c, from->routing->targets[effect->blind[i].target],
                      effect->blind[i].reason.ptr);
}

void cascades_add(struct cascades *c, const struct cascade_origin *from, const struct str *keys,
                  const struct cascade_hold *holds)
{
    const struct cascade_effect *effect = &from->table->on[from->cause];

    cascades_mark_blind(c, from);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < effect->n_steps; i++)
        if (cascade_step_counts(&effect->steps[i], keys))
            queue_row(c, from, i, keys, holds[i]);
    pthread_cond_signal(&c->added);
    pthread_mutex_unlock(&c->lock);
}

bool cascades_is_full(const struct cascades *c)
{
    return __atomic_load_n(&c->waiting, __ATOMIC_RELAXED) > WAITING_MAX;
}

void cascades_wait(struct cascades *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->waiting > WAITING_MAX && !stop_is_set(&c->stop))
        pthread_cond_wait(&c->freed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

/* ---- rows that are known by the key of their document ---- */

/* The values that the key has of the columns that k refers to; false: it has not all. */
static bool append_key(const struct plan *plan, const struct cascade_key *k, struct str key,
                       struct buf *out)
{
    for (size_t i = 0; i < k->n_columns; i++) {
        struct str rest = key, part = {0};
        size_t at;

        if (!lookup_root_column(plan, k->parent_columns[i], &at))
            return false;
        for (size_t n = 0; n <= at; n++)
            if (!key_next(&rest, &part))
                return false;
        key_append_part(out, part);
    }
    return true;
}

struct str *cascades_root_keys(const struct cascade_effect *effect, const struct plan *plan,
                             struct str key, struct arena *a)
{
    struct str *keys = arena_alloc(a, effect->n_keys + 1, sizeof(*keys));

    for (size_t k = 0; k < effect->n_keys; k++) {
        struct buf values = {0};

        if (append_key(plan, &effect->keys[k], key, &values))
            keys[k] = arena_copy(a, buf_str(&values));
        buf_free(&values);
    }
    return keys;
}

const struct cascade_table *cascades_leading_root(const struct routing *routing,
                                                const struct plan *plan)
{
    struct str schema, table;
    bool refresh;

    plan_place(plan, 0, &schema, &table, &refresh);

    const struct cascade_table *t = cascade_plan_find(routing->cascades, schema, table);

    return t != NULL && t->goes &&
                   (t->on[CASCADE_DELETE].n_steps > 0 || t->on[CASCADE_DELETE].n_blind > 0)
               ? t
               : NULL;
}

static struct routing *routing_of_now(struct cascades *c)
{
    pthread_mutex_lock(&c->lock);

    struct routing *routing = c->routing == NULL ? NULL : routing_ref(c->routing);

    pthread_mutex_unlock(&c->lock);
    return routing;
}

bool cascades_lead_on(struct cascades *c, const struct target *target)
{
    struct routing *routing = routing_of_now(c);
    const bool leads =
        routing != NULL &&
        cascades_leading_root(routing, ((const struct reading *)target->plan)->plan) != NULL;

    routing_unref(routing);
    return leads;
}

void cascades_gone(struct cascades *c, const struct target *target, struct str key,
                   struct ticket *ticket, uint64_t log_end)
{
    const struct plan *plan = ((const struct reading *)target->plan)->plan;
    struct routing *routing = routing_of_now(c);
    const struct cascade_origin from = {
        .routing = routing,
        .table = routing == NULL ? NULL : cascades_leading_root(routing, plan),
        .cause = CASCADE_DELETE,
        .at_least = log_end + 1,
        .ahead = true,
    };

    if (from.table != NULL) {
        const struct cascade_effect *effect = &from.table->on[CASCADE_DELETE];
        struct arena *a = arena_new();
        const struct str *keys = cascades_root_keys(effect, plan, key, a);
        struct cascade_hold *holds = arena_alloc(a, effect->n_steps + 1, sizeof(*holds));

        for (size_t i = 0; i < effect->n_steps; i++)
            if (ticket != NULL && cascade_step_counts(&effect->steps[i], keys))
                holds[i] = (struct cascade_hold){ticket_hold(ticket), OUTCOME_DELIVERED};
        cascades_add(c, &from, keys, holds);
        arena_free(a);
    }
    routing_unref(routing);
}
