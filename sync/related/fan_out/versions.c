#include "config.h"

#include "sync/related/fan_out/parts.h"

#include "src/base/mem.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/routing/routing.h"

#include <stdlib.h>
#include <string.h>

void fan_out_enter(struct token *token, const struct target *t)
{
    if (token->grace_period != NULL)
        return;
    token->grace_period = ((const struct reading *)t->plan)->grace_period;
    if (token->grace_period != NULL)
        token->side = grace_period_enter(token->grace_period);
}

void fan_out_leave(struct token *token)
{
    if (token->grace_period != NULL)
        grace_period_leave(token->grace_period, token->side);
    token->grace_period = NULL;
}

/* Each table of an index has jobs and runs of its own. */
static bool is_of(const struct version *v, const struct target *t)
{
    return strcmp(v->index, t->index) == 0 && strcmp(v->member, t->table) == 0;
}

struct version *fan_out_version(struct fan_out *f, const struct target *t)
{
    const struct reading *reading = t->plan;
    struct version *v = f->versions;

    while (v != NULL && !is_of(v, t))
        v = v->next;
    if (v != NULL)
        return v;
    v = mem_alloc(1, sizeof(*v));
    v->f = f;
    v->index = mem_copy(t->index);
    v->member = mem_copy(t->table);
    v->alias = mem_copy(reading->alias);
    v->number = reading->number;
    v->puts = 1;
    fan_out_enter(&v->waiting, t);
    fan_out_run_init(&v->run, f->bell);
    v->next = f->versions;
    f->versions = v;
    return v;
}

void fan_out_leave_out(struct version *v)
{
    fan_out_leave(&v->waiting);
    fan_out_leave(&v->running);
}

static const struct target *target_of(const struct version *v, const struct routing *r)
{
    for (size_t i = 0; i < r->n_targets; i++)
        if (is_of(v, r->targets[i]))
            return r->targets[i];
    return NULL;
}

void fan_out_set_routing(struct fan_out *f, struct routing *routing)
{
    lock_acquire(&f->lock);

    struct routing *before = f->routing;

    f->routing = routing_ref(routing);
    for (size_t i = 0; i < routing->n_targets; i++)
        (void)fan_out_version(f, routing->targets[i]);
    for (struct version *v = f->versions; v != NULL; v = v->next)
        if (target_of(v, routing) == NULL) {
            fan_out_leave_out(v);
            v->n_waiting = 0;
        }
    lock_release(&f->lock);
    bell_ring(f->bell);
    routing_unref(before);
}

/* ---- status ---- */

int64_t fan_out_oldest_ms(struct fan_out *f, struct str index)
{
    int64_t oldest_ms = INT64_MAX;
    bool any = false, all = true;

    lock_acquire(&f->lock);
    for (const struct version *v = f->versions; v != NULL; v = v->next) {
        if (!str_equal(str_from(v->index), index))
            continue;
        any = true;
        all = all && v->looked && v->puts == v->seen;
        if (v->oldest_ms < oldest_ms)
            oldest_ms = v->oldest_ms;
    }
    lock_release(&f->lock);
    return any && all ? oldest_ms : 0;
}

struct fan_out_status fan_out_status(struct fan_out *f)
{
    struct fan_out_status s = {
        .put = __atomic_load_n(&f->status.put, __ATOMIC_RELAXED),
        .runs = __atomic_load_n(&f->status.runs, __ATOMIC_RELAXED),
        .documents = __atomic_load_n(&f->status.documents, __ATOMIC_RELAXED),
        .failures = __atomic_load_n(&f->status.failures, __ATOMIC_RELAXED),
        .statements = __atomic_load_n(&f->status.statements, __ATOMIC_RELAXED),
    };

    lock_acquire(&f->lock);
    for (const struct version *v = f->versions; v != NULL; v = v->next)
        s.waiting += v->n_waiting;
    lock_release(&f->lock);
    return s;
}

struct fan_out_progress fan_out_progress(struct fan_out *f, struct str alias, uint64_t number)
{
    struct fan_out_progress p = {0};

    lock_acquire(&f->lock);
    for (const struct version *v = f->versions; v != NULL; v = v->next)
        if (str_equal(str_from(v->alias), alias) && v->number == number) {
            const uint64_t waiting = p.rows + v->n_waiting;

            if (p.run == 0)
                p = v->progress;
            p.rows = waiting;
        }
    lock_release(&f->lock);
    return p;
}
