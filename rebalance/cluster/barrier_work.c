#include "config.h"

#include "rebalance/cluster/barrier_parts.h"

static void act(struct barrier *b, enum barrier_action_kind kind, struct str thing)
{
    const struct str text = barrier_text(b, thing);

    barrier_add(b, kind)->thing = text;
}

static bool is_here(const struct barrier_works *w, struct str thing)
{
    return name_set_has(&w->starting, thing) || name_set_has(&w->running, thing) ||
           name_set_has(&w->stopping, thing) || name_set_has(&w->halting, thing);
}

void barrier_work_start(struct barrier *b, struct str thing)
{
    if (is_here(&b->works, thing))
        return;
    (void)name_set_add(&b->works.starting, thing);
    act(b, BARRIER_START, thing);
}

/* Moves all of one set but those into another. */
static void end(struct barrier *b, struct name_set *from, const struct name_set *but,
                enum barrier_action_kind kind)
{
    struct name_set *to = kind == BARRIER_STOP ? &b->works.stopping : &b->works.halting;

    for (size_t i = 0; i < from->n;) {
        const struct str thing = from->list[i];

        if (but != NULL && name_set_has(but, thing)) {
            i++;
            continue;
        }
        act(b, kind, thing);
        (void)name_set_add(to, thing);
        (void)name_set_remove(from, thing);
    }
}

void barrier_work_stop(struct barrier *b, const struct name_set *but)
{
    end(b, &b->works.starting, but, BARRIER_STOP);
    end(b, &b->works.running, but, BARRIER_STOP);
}

void barrier_work_halt(struct barrier *b)
{
    end(b, &b->works.starting, NULL, BARRIER_HALT);
    end(b, &b->works.running, NULL, BARRIER_HALT);
    end(b, &b->works.stopping, NULL, BARRIER_HALT);
}

static bool are_in(const struct name_set *a, const struct name_set *those)
{
    for (size_t i = 0; i < a->n; i++)
        if (!name_set_has(those, a->list[i]))
            return false;
    return true;
}

bool barrier_works_only(const struct barrier *b, const struct name_set *those)
{
    const struct barrier_works *w = &b->works;

    return are_in(&w->starting, those) && are_in(&w->running, those) && w->stopping.n == 0 &&
           w->halting.n == 0;
}

bool barrier_works_all(const struct barrier *b, const struct name_set *those)
{
    return are_in(those, &b->works.running);
}

bool barrier_work_is_any(const struct barrier *b)
{
    const struct barrier_works *w = &b->works;

    return w->starting.n + w->running.n + w->stopping.n + w->halting.n > 0;
}

void barrier_work_started(struct barrier *b, struct str thing)
{
    if (name_set_remove(&b->works.starting, thing))
        (void)name_set_add(&b->works.running, thing);
}

void barrier_work_stopped(struct barrier *b, struct str thing)
{
    (void)name_set_remove(&b->works.stopping, thing);
    (void)name_set_remove(&b->works.halting, thing);
}

/* While it stops, BARRIER_STOPPED follows, and says as much. */
bool barrier_work_refused(struct barrier *b, struct str thing)
{
    return name_set_remove(&b->works.starting, thing) ||
           name_set_remove(&b->works.running, thing);
}
