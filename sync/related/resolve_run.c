#include "config.h"

#include "sync/related/resolve_run.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/mysql/mysql.h"
#include "sync/delivery/delivery.h"
#include "sync/document/resolver.h"
#include "sync/read/links.h"
#include "sync/related/fan_out/fan_out.h"
#include "sync/related/resolve_task.h"
#include "sync/routing/routing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MS   500
#define SLOW_MS    (MYSQL_READ_TIMEOUT_S * 900) /* after this long the answer timed out */
#define SUBMIT_MAX 256

static void count(uint64_t *counter, uint64_t n)
{
    __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

/* What a key leads to; complete only when the task has worked. */
enum lead {
    LEADS_NOWHERE = 0,
    LEADS_ON,      /* documents submitted */
    LEADS_TO_MANY, /* they are read later */
};

/* Found documents on their way to delivery. */
struct found {
    const struct resolve_run_options *opt;
    const struct resolve_task *task;
    const struct resolve_keys *keys; /* the task's */
    struct seek seek;
    struct arena *arena;
    struct doc_write writes[SUBMIT_MAX];
    size_t n;
    enum lead *leads;    /* one per key */
    struct str *crowded; /* keys of this try */
    size_t n_crowded;
    bool closed;
};

static bool flush(struct found *f)
{
    struct err err = {0};

    if (f->n > 0 &&
        !delivery_submit_until(f->opt->delivery, f->opt->stop, f->writes, f->n, &err)) {
        f->closed = true;
        for (size_t i = 0; i < f->n; i++) {
            ticket_abandon(f->writes[i].ticket);
            target_unref(f->writes[i].target);
        }
    }
    count(f->opt->resolved, f->n);
    f->n = 0;
    arena_free(f->arena);
    f->arena = arena_new();
    return !f->closed && !stop_is_set(f->opt->stop);
}

/* A document that a changed row leads to. */
struct led_to {
    struct str id, key;
};

static bool ask_at(struct found *f, size_t row, const struct led_to *d, struct str routing)
{
    f->writes[f->n++] = (struct doc_write){
        .target = target_ref(f->task->target),
        .ticket = ticket_ref(f->task->tickets[row]),
        .op = DOC_REFRESH,
        .area = f->task->area,
        .version = f->task->at_least,
        .id = arena_copy(f->arena, d->id),
        .key = arena_copy(f->arena, d->key),
        .routing = arena_copy(f->arena, routing),
        .commit_ms = f->task->commit_ms,
    };
    return f->n < SUBMIT_MAX || flush(f);
}

static bool ask_for(struct found *f, size_t row, const struct led_to *d, struct str routing)
{
    const size_t n = seek_count(&f->seek, routing);

    for (size_t i = 0; i < n; i++)
        if (!ask_at(f, row, d, seek_at(&f->seek, routing, i)))
            return false;
    return true;
}

/*
 * Request the document for every changed row with this key.  Delivery reads a document once,
 * however often it is requested.
 */
static bool on_found(void *ctx, size_t key, struct str id, struct str root_key,
                     struct str routing)
{
    const struct led_to d = {id, root_key};
    struct found *f = ctx;
    size_t row = f->keys->first[key];

    if (f->leads[key] == LEADS_NOWHERE)
        f->leads[key] = LEADS_ON;
    for (;;) {
        if (!ask_for(f, row, &d, routing))
            return false;
        if (f->keys->next[row] == row)
            return true;
        row = f->keys->next[row];
    }
}

static bool on_crowded(void *ctx, size_t key)
{
    struct found *f = ctx;

    f->leads[key] = LEADS_TO_MANY;
    f->crowded[f->n_crowded++] = f->keys->keys[key];
    return true;
}

/* Store the crowded keys as jobs.  They are durable then, so the change is done. */
static bool put_crowded(struct found *f, struct err *err)
{
    const struct resolve_task *t = f->task;

    return f->n_crowded == 0 || fan_out_put(f->opt->fan_out,
                                            &(struct fan_out_rows){.target = t->target,
                                                                   .place = t->place,
                                                                   .by = t->by,
                                                                   .keys = f->crowded,
                                                                   .n = f->n_crowded,
                                                                   .at_least = t->at_least},
                                            err);
}

/* A task under way. */
struct resolving {
    struct resolve_task *task;
    struct resolve_keys keys;
    enum lead *leads; /* one per key */
};

/* Requires an open read. */
static bool find_documents(const struct resolve_run_options *opt, struct read_links *l,
                           const struct resolving *g, struct err *err)
{
    const struct resolve_task *t = g->task;
    struct found f = {.opt = opt,
                      .task = t,
                      .keys = &g->keys,
                      .arena = arena_new(),
                      .leads = g->leads,
                      .seek = seek_from(t->target, t->place)};
    const struct resolver_rows rows = {.plan = ((const struct reading *)t->target->plan)->plan,
                                       .place = t->place,
                                       .by = t->by,
                                       .keys = g->keys.keys,
                                       .n = g->keys.n};
    const struct resolver_sink sink = {on_found, on_crowded, &f};

    f.crowded = mem_alloc(rows.n, sizeof(*f.crowded));
    for (size_t i = 0; i < rows.n; i++)
        if (g->leads[i] == LEADS_TO_MANY) /* in an earlier try, which failed */
            g->leads[i] = LEADS_NOWHERE;

    bool ok = resolver_find(l->conns, &rows, &sink, err);

    if (!flush(&f) && ok)
        ok = err_set(err, ERR_STOP, "stopping");
    ok = ok && put_crowded(&f, err);
    arena_free(f.arena);
    free(f.crowded);
    return ok;
}

/* Each row of a delayed table is kept, with its key. */
static bool put_off(const struct resolve_run_options *opt, const struct resolve_task *t,
                    struct err *err)
{
    return fan_out_put_off(opt->fan_out, t->delayed,
                           &(struct fan_out_rows){.target = t->target,
                                                  .place = t->place,
                                                  .by = t->by,
                                                  .keys = t->join_keys,
                                                  .n = t->n,
                                                  .at_least = t->at_least},
                           t->rows, err);
}

static bool put_task(const struct resolve_run_options *opt, const struct resolving *g,
                     struct err *err)
{
    const struct resolve_task *t = g->task;

    return t->delayed.len > 0 ? put_off(opt, t, err)
                              : fan_out_put(opt->fan_out,
                                            &(struct fan_out_rows){.target = t->target,
                                                                   .place = t->place,
                                                                   .by = t->by,
                                                                   .keys = g->keys.keys,
                                                                   .n = g->keys.n,
                                                                   .at_least = t->at_least},
                                            err);
}

static bool hand_over(const struct resolve_run_options *opt, const struct resolving *g,
                      size_t n, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        for (size_t k = 0; k < g[i].keys.n; k++)
            g[i].leads[k] = LEADS_TO_MANY;
        ok = put_task(opt, &g[i], err);
    }
    return ok;
}

/* Resolve tasks of one target, in one read that includes what each of them needs. */
static bool resolve(const struct resolve_run_options *opt, struct read_links *l,
                    const struct resolving *g, size_t n, struct err *err)
{
    uint64_t at_least = 0, stamp;
    bool ok;

    for (size_t i = 0; i < n; i++)
        if (g[i].task->at_least > at_least)
            at_least = g[i].task->at_least;
    ok = read_links_open(l, g[0].task->target->plan, at_least, &stamp, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = find_documents(opt, l, &g[i], err);
    return ok && read_links_end(l, err);
}

/* ---- ends ---- */

enum end {
    END_FOUND,
    END_DEFERRED, /* the index is built again */
    END_UNDONE,
};

static void end_found(const struct resolving *g)
{
    static const enum outcome outcomes[] = {
        [LEADS_NOWHERE] = OUTCOME_FILTERED,
        [LEADS_ON] = OUTCOME_DELIVERED,
        [LEADS_TO_MANY] = OUTCOME_DEFERRED,
    };

    for (size_t i = 0; i < g->keys.n; i++)
        for (size_t row = g->keys.first[i], end = SIZE_MAX; row != end;) {
            end = row;
            row = g->keys.next[row];
            ticket_done(g->task->tickets[end], outcomes[g->leads[i]]);
        }
}

static void end_deferred(const struct resolve_task *t)
{
    for (size_t i = 0; i < t->n; i++)
        ticket_done(t->tickets[i], OUTCOME_DEFERRED);
}

static void end_task(const struct resolve_run_options *opt, const struct resolving *g,
                     enum end how)
{
    const size_t n_tasks = g->task->n_tasks;

    switch (how) {
    case END_FOUND: end_found(g); break;
    case END_DEFERRED: end_deferred(g->task); break;
    case END_UNDONE: resolve_task_abandon(g->task); break;
    }
    resolve_task_free(g->task);
    __atomic_sub_fetch(opt->pending, n_tasks, __ATOMIC_RELAXED);
}

/* ---- tries ---- */

static bool is_stopped(const struct target *t)
{
    return __atomic_load_n(&((const struct reading *)t->plan)->stopped, __ATOMIC_RELAXED);
}

/* Another topic's documents are written by its owner: hand the keys over to it, durably. */
static bool is_guest(const struct resolve_run_options *opt, const struct target *t)
{
    return strcmp(t->topic, opt->topic) != 0;
}

static void begin(struct resolving *g, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        g[i].keys = resolve_task_keys(g[i].task);
        g[i].leads = arena_alloc(g[i].task->arena, g[i].keys.n, sizeof(*g[i].leads));
    }
}

static void tell(const struct resolve_run_options *opt, const struct target *t,
                 const struct err *why)
{
    count(opt->failures, 1);
    log_failure(LOG_WARN, why, "could not find documents of a related row, trying again",
                KV("topic", opt->topic), KV("table", t->table));
}

/* A job may wait for a server as long as needed, and nobody waits behind it. */
static bool suits_a_job(const struct target *t, const struct err *err, int64_t took_ms)
{
    return t->cross_topic || err->kind == ERR_REJECT || took_ms >= SLOW_MS;
}

/*
 * Try the tasks until they work.  Repeating is harmless: documents found by a failed try were
 * only requested early.  Keys that lead over several servers, that a server refuses, or for
 * which it returns no row for long, are tried once: a job does the further tries, so that
 * nobody else waits.
 */
static enum end work(const struct resolve_run_options *opt, struct read_links *l,
                     struct resolving *g, size_t n)
{
    const struct target *t = g[0].task->target;
    int64_t since_ms = clock_mono_ms();
    bool as_job = is_guest(opt, t) || g[0].task->delayed.len > 0;
    struct err err = {0};

    while (!(as_job ? hand_over(opt, g, n, &err) : resolve(opt, l, g, n, &err))) {
        const bool at_once = !as_job && suits_a_job(t, &err, clock_mono_ms() - since_ms);

        read_links_close(l);
        if (err.kind == ERR_STOP)
            return END_UNDONE;
        tell(opt, t, &err);
        if (is_stopped(t))
            return END_DEFERRED;
        if (!at_once && stop_wait(opt->stop, RETRY_MS))
            return END_UNDONE;
        as_job = as_job || at_once;
        since_ms = clock_mono_ms();
    }
    return END_FOUND;
}

/* Takes over the tasks, which are of one target. */
static void do_tasks(const struct resolve_run_options *opt, struct read_links *l,
                     struct resolving *g, size_t n)
{
    enum end how = END_UNDONE;

    if (!stop_is_set(opt->stop)) {
        begin(g, n);
        how = work(opt, l, g, n);
    }
    for (size_t i = 0; i < n; i++)
        end_task(opt, &g[i], how);
    count(opt->resolves, n);
}

/* Whether both can be worked off at once. */
static bool are_alike(const struct resolve_task *a, const struct resolve_task *b)
{
    return a->target == b->target && (a->delayed.len > 0) == (b->delayed.len > 0);
}

/* Move the tasks that are like the first one from tasks to out; returns their number. */
static size_t split_off(struct resolve_task **tasks, size_t *n, struct resolving *out)
{
    const struct resolve_task *first = tasks[0];
    size_t n_out = 0, n_left = 0;

    for (size_t i = 0; i < *n; i++)
        if (are_alike(tasks[i], first))
            out[n_out++] = (struct resolving){.task = tasks[i]};
        else
            tasks[n_left++] = tasks[i];
    *n = n_left;
    return n_out;
}

void resolve_run(const struct resolve_run_options *opt, struct read_links *l,
                 struct resolve_task **tasks, size_t n)
{
    struct resolving alike[RESOLVE_TASKS_MAX];

    assert(n <= RESOLVE_TASKS_MAX);
    while (n > 0) {
        const size_t n_alike = split_off(tasks, &n, alike);

        do_tasks(opt, l, alike, n_alike);
    }
}
