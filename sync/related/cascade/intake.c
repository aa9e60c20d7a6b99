#include "config.h"

#include "sync/related/cascade/parts.h"

#include "src/base/arena.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "sync/document/key.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_MAX ((size_t)8 << 20) /* bytes of rows waiting to be followed */

/* Find what is followed in the index, or make it. */
static struct following *find_or_make(struct cascades *c, struct str index) NEEDS(c->lock)
{
    struct following *f = map_find(c->indexes, index);

    if (f != NULL)
        return f;
    f = mem_alloc(1, sizeof(*f));
    f->index = mem_alloc(index.len + 1, 1);
    memcpy(f->index, index.ptr, index.len);
    f->grace_period = grace_period_new();
    f->last = &f->first;
    f->next = c->all;
    c->all = f;
    map_put(c->indexes, index, f);
    return f;
}

struct grace_period *cascades_grace_period(struct cascades *c, struct str index)
{
    lock_acquire(&c->lock);

    struct grace_period *t = find_or_make(c, index)->grace_period;

    lock_release(&c->lock);
    return t;
}

void cascades_wake(struct cascades *c)
{
    c->is_woken = true;
    pthread_cond_signal(&c->added);
}

static void let_pass(struct cascades *c, struct target *const *targets, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct reading *reading = targets[i]->plan;

        if (reading->grace_period == NULL)
            reading->grace_period =
                grace_period_ref(cascades_grace_period(c, str_from(targets[i]->index)));
    }
}

void cascades_set_routing(struct cascades *c, struct routing *routing)
{
    let_pass(c, routing->targets, routing->n_targets);
    let_pass(c, routing->guests, routing->n_guests);
    lock_acquire(&c->lock);

    struct routing *old = c->routing;

    c->routing = routing_ref(routing);
    c->routings++;
    cascades_wake(c);
    lock_release(&c->lock);
    routing_unref(old);
}

struct routing *cascades_routing(struct cascades *c)
{
    lock_acquire(&c->lock);

    struct routing *routing = c->routing == NULL ? NULL : routing_ref(c->routing);

    lock_release(&c->lock);
    return routing;
}

size_t cascades_pending(struct cascades *c)
{
    lock_acquire(&c->lock);

    const size_t n = c->pending;

    lock_release(&c->lock);
    return n;
}

void cascades_mark(struct cascades *c, const struct target *target, const char *reason)
{
    lock_acquire(&c->lock);

    struct following *f = find_or_make(c, str_from(target->index));
    const bool was = f->marked;

    f->marked = true;
    lock_release(&c->lock);
    if (!was)
        c->opt.mark(c->opt.ctx, target, reason);
}

/* ---- rows ---- */

static void count(struct cascades *c, struct following *f, size_t more, size_t less)
    NEEDS(c->lock)
{
    f->waiting = f->waiting + more - less;
    __atomic_store_n(&c->waiting, c->waiting + more - less, __ATOMIC_RELAXED);
}

static struct cascade_rows *find_rows(struct cascade_rows *list,
                                      const struct cascade_origin *from, size_t step)
{
    while (list != NULL && !cascade_rows_take(list, from, step))
        list = list->next;
    return list;
}

static struct cascade_rows *new_rows(struct cascades *c, struct following *f,
                                     const struct cascade_origin *from, size_t step)
    NEEDS(c->lock)
{
    struct cascade_rows *r = cascade_rows_new(from, step);

    *(from->swept ? &c->sweep.n_rows : &c->pending) += 1;
    f->n_swept += from->swept;
    *f->last = r;
    f->last = &r->next;
    return r;
}

/* Add the row to waiting rows of the same kind. */
static void queue_row(struct cascades *c, const struct cascade_origin *from, size_t step,
                      const struct str *keys, struct cascade_hold hold) NEEDS(c->lock)
{
    const struct cascade_effect *effect = &from->table->on[from->cause];
    const struct target *target = from->routing->targets[effect->steps[step].target];
    struct following *f = find_or_make(c, str_from(target->index));
    struct cascade_rows *r = find_rows(f->first, from, step);

    if (r == NULL)
        r = new_rows(c, f, from, step);
    cascade_rows_add(r, from, keys, hold);
    count(c, f, arena_size(r->arena), r->cost);
    r->cost = arena_size(r->arena);
}

void cascades_drop(struct cascades *c, struct following *f, struct cascade_rows *r)
{
    lock_acquire(&c->lock);
    count(c, f, 0, r->cost);
    *(r->from.swept ? &c->sweep.n_rows : &c->pending) -= 1;
    f->n_swept -= r->from.swept;
    pthread_cond_broadcast(&c->freed);
    lock_release(&c->lock);
    cascade_rows_free(r);
}

/* Mark the index versions in which such rows change documents that cannot be found. */
static void mark_blind(struct cascades *c, const struct cascade_origin *from)
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

    mark_blind(c, from);
    lock_acquire(&c->lock);
    for (size_t i = 0; i < effect->n_steps; i++)
        if (cascade_step_counts(&effect->steps[i], keys))
            queue_row(c, from, i, keys, holds[i]);
    cascades_wake(c);
    lock_release(&c->lock);
}

bool cascades_is_full(const struct cascades *c)
{
    return __atomic_load_n(&c->waiting, __ATOMIC_RELAXED) > WAITING_MAX;
}

void cascades_wait(struct cascades *c)
{
    lock_acquire(&c->lock);
    while (c->waiting > WAITING_MAX && !stop_is_set(&c->stop))
        lock_wait(&c->lock, &c->freed);
    lock_release(&c->lock);
}

bool cascades_wait_for(struct cascades *c, struct str index)
{
    lock_acquire(&c->lock);

    const struct following *f = map_find(c->indexes, index);
    const bool wait = f != NULL && (f->n_swept > 0 || f->waiting > WAITING_MAX / 2);

    lock_release(&c->lock);
    return wait;
}
