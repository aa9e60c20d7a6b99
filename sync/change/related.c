#include "config.h"

#include "src/base/log.h"
#include "src/store/later/snapshot.h"
#include "sync/change/parts.h"
#include "sync/document/plan.h"
#include "sync/document/resolver.h"
#include "sync/load/reread.h"
#include "sync/related/cascade/trigger.h"
#include "sync/related/resolve_task.h"

static void start_task(struct change_writer *w, size_t i)
{
    struct resolve_task *t = w->tasks[i];

    w->tasks[i] = w->tasks[--w->n_tasks];
    if (!reread_resolve(w->opt.reread, t))
        log_debug("a resolve task was dropped while stopping");
}

/*
 * What of the documents that hold a changed row of that place is read again: an area, from 1,
 * or all (0).  Documents of a version that is being built may not be there yet, and fills would
 * not know of areas that are newer.
 */
static uint8_t area_of(const struct change_unit *u, size_t place)
{
    const struct reading *reading = u->target->plan;

    return u->target->n_areas == 0 || reading->filling ? 0 : plan_area_of(reading->plan, place);
}

/* How to find the documents that a row leads to, and when. */
struct way {
    size_t place;
    unsigned by;
    struct str delayed; /* its delayed table; empty: now */
};

static bool goes(const struct resolve_task *t, const struct change_unit *u, const struct way *y)
{
    return t->target == u->target && t->place == y->place && t->by == y->by &&
           str_equal(t->delayed, y->delayed);
}

static struct resolve_task *task_for(const struct change_unit *u, const struct way *y)
{
    struct change_writer *w = u->w;

    for (size_t i = 0; i < w->n_tasks; i++)
        if (goes(w->tasks[i], u, y)) {
            if (w->tasks[i]->n < RESOLVE_MAX)
                return w->tasks[i];
            start_task(w, i);
            break;
        }
    if (w->n_tasks == CHANGE_TASKS_MAX)
        start_task(w, 0);

    struct resolve_task *t =
        resolve_task_new(target_ref(u->target), y->place, area_of(u, y->place), y->by);

    if (y->delayed.len > 0)
        resolve_task_delay(t, y->delayed);
    w->tasks[w->n_tasks++] = t;
    return t;
}

static struct resolve_task *task_now(struct change_unit *u, const struct way *y)
{
    struct resolve_task *t = task_for(u, y);

    t->at_least = change_version(u, DOC_REFRESH);
    t->commit_ms = u->at->commit_ms;
    u->any = true;
    return t;
}

static void resolve_later(struct change_unit *u, const struct way *y, struct str join)
{
    resolve_task_add(task_now(u, y), join, ticket_ref(u->ticket));
}

/* A row of a delayed table waits for a run.  was: the key is from the row as it was. */
static void resolve_row(struct change_unit *u, const struct use *use, unsigned by,
                        struct str key, bool was)
{
    const struct way y = {use->place, by, use->delayed};

    if (use->delayed.len == 0) {
        resolve_later(u, &y, key);
        return;
    }

    const struct snapshot_row row = change_put_off_row(u, was);

    resolve_task_put_off(task_now(u, &y), key, &row, ticket_ref(u->ticket));
}

/* The documents that hold the row, or did: join is where its image leads. */
static void reach(struct change_unit *u, const struct use *use, struct str join, bool was)
{
    struct change_writer *w = u->w;

    buf_clear(&w->id);
    buf_clear(&w->key);
    buf_clear(&w->routing);
    if (!use->guest && use->delayed.len == 0 &&
        resolver_direct(use->plan, use->place, join, &w->id, &w->key, &w->routing))
        change_emit(u, &(struct doc_write){.op = DOC_REFRESH,
                                           .area = area_of(u, use->place),
                                           .id = buf_str(&w->id),
                                           .key = buf_str(&w->key),
                                           .routing = buf_str(&w->routing)});
    else
        resolve_row(u, use, RESOLVER_BY_JOIN, join, was);
}

/*
 * A row that did not move is joined by what it has now, or by what a later change of it says
 * that it had before: it is looked up by its key.
 */
static bool look_up(struct change_unit *u, const struct use *use, const struct binding *b)
{
    struct change_writer *w = u->w;
    const struct row_change *c = u->change;
    const bool had = c->before != NULL;

    buf_clear(&w->join);
    buf_clear(&w->old_key);
    if (c->after == NULL ||
        (had && !plan_update_keeps_joins(use->plan, use->place, b, c->before, c->after)) ||
        (had && !resolver_row_key(use->plan, use->place, b, c->before, &w->old_key)) ||
        !resolver_row_key(use->plan, use->place, b, c->after, &w->join))
        return false;
    if (had && !str_equal(buf_str(&w->old_key), buf_str(&w->join)))
        resolve_row(u, use, RESOLVER_BY_ROW, buf_str(&w->old_key), true);
    resolve_row(u, use, RESOLVER_BY_ROW, buf_str(&w->join), false);
    return true;
}

/* The images say what the row is joined by; else it is looked up, or the table stops. */
static bool leads_on(struct change_unit *u, const struct use *use, const struct binding *b)
{
    const struct column *lacks = change_find_lacking(u, use, b);

    if (lacks != NULL && !look_up(u, use, b))
        change_stop_unknown(u, use, lacks);
    return lacks == NULL;
}

void change_related(struct change_unit *u, const struct use *use, const struct binding *b)
{
    struct change_writer *w = u->w;
    const struct row_change *c = u->change;

    if (c->before != NULL && c->after != NULL && !u->at->doubtful && !change_matters(u, use, b))
        return;
    if (!leads_on(u, use, b))
        return;
    buf_clear(&w->old_key);
    buf_clear(&w->join);

    const bool had = c->before != NULL &&
                     resolver_join_key(use->plan, use->place, b, c->before, &w->old_key),
               has = c->after != NULL &&
                     resolver_join_key(use->plan, use->place, b, c->after, &w->join),
               stays = had && has && str_equal(buf_str(&w->join), buf_str(&w->old_key)) &&
                       (use->delayed.len == 0 || change_put_off_keeps_key(u));

    if (had && !stays)
        reach(u, use, buf_str(&w->old_key), true);
    if (has)
        reach(u, use, buf_str(&w->join), false);
}

void change_moved(struct change_unit *u)
{
    struct cascade_trigger_moved m;

    for (size_t i = 0; cascade_trigger_next_moved(u->w->off, u->target, &i, &m);)
        resolve_later(u, &(struct way){.place = m.place, .by = m.by}, m.key);
}

void change_related_flush(struct change_writer *w)
{
    while (w->n_tasks > 0)
        start_task(w, 0);
}
