#include "config.h"

#include "src/base/mem.h"
#include "sync/change/parts.h"
#include "sync/change/write_gather.h"
#include "sync/document/plan.h"
#include "sync/read/commit_wait.h"
#include "sync/related/cascade/parent.h"
#include "sync/related/cascade/trigger.h"

#include <stdlib.h>

struct change_writer *change_writer_new(const struct change_writer_options *opt)
{
    struct change_writer *w = mem_alloc(1, sizeof(*w));

    w->opt = *opt;
    w->rows = row_reader_new();
    w->writes = write_gather_new(opt->delivery, opt->given_up);
    w->off = cascade_trigger_new(opt->cascades, opt->progress);
    return w;
}

static void free_bound(struct bound *b)
{
    for (size_t i = 0; i < b->watched->n_uses; i++)
        binding_free(b->bindings[i]);
    free(b->bindings);
    free(b->generated);
    cascade_parent_free(b->parent);
    table_map_unref(b->map);
}

void change_writer_forget(struct change_writer *w)
{
    change_writer_flush(w);
    for (size_t i = 0; i < w->n_bound; i++)
        free_bound(&w->bound[i]);
    w->n_bound = 0;
}

void change_writer_free(struct change_writer *w)
{
    if (w == NULL)
        return;
    change_writer_forget(w);
    row_reader_free(w->rows);
    row_fill_fini(&w->fill);
    write_gather_free(w->writes);
    buf_free(&w->id);
    buf_free(&w->key);
    buf_free(&w->routing);
    buf_free(&w->body);
    buf_free(&w->old_id);
    buf_free(&w->old_key);
    buf_free(&w->old_routing);
    buf_free(&w->join);
    buf_free(&w->row_id);
    buf_free(&w->row_json);
    cascade_trigger_free(w->off);
    free(w);
}

static bool is_stopped(const struct target *t)
{
    return __atomic_load_n(&((struct reading *)t->plan)->stopped, __ATOMIC_RELAXED);
}

void change_writer_stop(struct change_writer *w, struct target *target, const char *reason,
                        const char *way_out)
{
    struct reading *reading = target->plan;

    if (__atomic_load_n(&reading->stopped, __ATOMIC_RELAXED))
        return;
    w->opt.stop_table(w->opt.ctx, target, reason, way_out);
    /* Durable first: what other threads defer lets the checkpoint pass. */
    __atomic_store_n(&reading->stopped, true, __ATOMIC_RELAXED);
}

void change_writer_flush(struct change_writer *w)
{
    write_gather_flush(w->writes);
    change_related_flush(w);
}

/* Uses of one target follow each other: together they are one unit of account. */
static size_t change_target(struct change_writer *w, const struct rows_at *at,
                            const struct bound *b, size_t first,
                            const struct row_change *change)
{
    const struct watched *t = at->watched;
    struct change_unit u = {
        .w = w, .at = at, .change = change, .target = t->uses[first].target};
    const bool stopped = is_stopped(u.target);
    struct cascade_hold *hold = stopped ? NULL : cascade_trigger_hold(w->off, u.target);
    size_t i = first;

    u.ticket = cascade_trigger_ticket(w->off, u.target);
    if (hold != NULL)
        hold->ticket = ticket_hold(u.ticket);
    for (; i < t->n_uses && t->uses[i].target == u.target; i++) {
        if (stopped || b->bindings[i] == NULL)
            continue;
        if (t->uses[i].place == 0)
            change_root(&u, &t->uses[i], b->bindings[i]);
        else
            change_related(&u, &t->uses[i], b->bindings[i]);
    }
    if (hold != NULL) {
        change_moved(&u);
        hold->idle = u.any ? OUTCOME_DELIVERED : OUTCOME_FILTERED;
    }
    ticket_done(u.ticket, u.any                  ? OUTCOME_DELIVERED
                          : is_stopped(u.target) ? OUTCOME_DEFERRED
                          : hold != NULL         ? OUTCOME_DELIVERED
                                                 : OUTCOME_FILTERED);
    return i;
}

/* Index versions that have no place for the changed row itself. */
static void change_others(struct change_writer *w, const struct rows_at *at,
                          const struct row_change *change)
{
    struct change_unit u = {.w = w, .at = at, .change = change};
    struct cascade_hold *hold;

    while ((hold = cascade_trigger_next_hold(w->off, &u.target)) != NULL) {
        u.ticket = cascade_trigger_ticket(w->off, u.target);
        *hold = (struct cascade_hold){ticket_hold(u.ticket), OUTCOME_FILTERED};
        if (!is_stopped(u.target))
            change_moved(&u);
        ticket_done(u.ticket, OUTCOME_DELIVERED);
    }
}

static void change_all(struct change_writer *w, const struct rows_at *at, const struct bound *b,
                       const struct row_change *change)
{
    cascade_trigger_begin(w->off, at, b->parent, change);
    for (size_t i = 0; i < at->watched->n_uses;)
        i = change_target(w, at, b, i, change);
    change_others(w, at, change);
    cascade_trigger_follow(w->off);
}

static struct bound *bind(struct change_writer *w, const struct rows_at *at)
{
    for (size_t i = 0; i < w->n_bound; i++)
        if (w->bound[i].map == at->map && w->bound[i].watched == at->watched)
            return &w->bound[i];
    if (w->n_bound == CHANGE_BOUND_MAX)
        free_bound(&w->bound[--w->n_bound]);

    struct bound *b = &w->bound[w->n_bound++];

    *b =
        (struct bound){.map = table_map_ref((struct table_map *)(uintptr_t)at->map),
                       .watched = at->watched,
                       .bindings = mem_alloc(at->watched->n_uses + 1, sizeof(struct binding *)),
                       .generated = mem_alloc(at->map->n_columns, sizeof(struct str))};
    if (at->watched->cascade != NULL)
        b->parent = cascade_parent_new(at->watched->cascade, at->map->schema);
    for (size_t i = 0; i < at->watched->n_uses; i++) {
        const struct use *use = &at->watched->uses[i];
        struct err err = {0};

        b->bindings[i] = plan_bind(use->plan, use->place, at->map->schema, &err);
        if (b->bindings[i] == NULL)
            change_writer_stop(w, use->target, err.msg, CHANGE_REBUILD);
        else
            binding_mark_generated(b->bindings[i], b->generated);
    }
    return b;
}

static void stop_all(struct change_writer *w, const struct watched *t, const struct err *why)
{
    for (size_t i = 0; i < t->n_uses; i++)
        change_writer_stop(w, t->uses[i].target, why->msg, CHANGE_REBUILD);
}

static void count_row(struct rows_counted *n, enum row_op op)
{
    switch (op) {
    case ROW_INSERT: n->inserts++; break;
    case ROW_UPDATE: n->updates++; break;
    case ROW_DELETE: n->deletes++; break;
    }
}

static void begin(const struct rows_at *at, const struct value *row)
{
    if (at->wait_sql != NULL)
        commit_wait_format(at->wait_sql, at->watched->schema, at->map, row);
    at->begin(at->ctx);
}

/* For builds, which see by it how fast their tables grow. */
static void count_growth(const struct watched *t, const struct rows_counted *n)
{
    for (size_t i = 0; i < t->n_uses; i++)
        if (t->uses[i].place == 0) {
            struct target_counters *count = &t->uses[i].target->count;

            __atomic_add_fetch(&count->rows_come, n->inserts, __ATOMIC_RELAXED);
            __atomic_add_fetch(&count->rows_gone, n->deletes, __ATOMIC_RELAXED);
        }
}

struct rows_counted change_writer_rows(struct change_writer *w, const struct rows_at *at)
{
    struct rows_counted counted = {0};
    struct row_change change;
    struct err err = at->map->broken;
    bool first = true;
    int got = -1;

    if (err.kind == ERR_NONE) {
        const struct bound *b = bind(w, at);

        if (row_reader_open(w->rows, at->rows, at->map, &err))
            while ((got = row_reader_next(w->rows, NULL, &change, &err)) == 1) {
                row_fill(&w->fill, &change, at->map->schema, b->generated);
                if (first)
                    begin(at, change.after != NULL ? change.after : change.before);
                first = false;
                count_row(&counted, change.op);
                change_all(w, at, b, &change);
            }
    }
    if (got < 0) {
        stop_all(w, at->watched, &err);
        cascade_trigger_lose(w->off, at, err.msg);
    }
    count_growth(at->watched, &counted);
    return counted;
}
