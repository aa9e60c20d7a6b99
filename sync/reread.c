#include "config.h"

#include "sync/reread.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/queue.h"
#include "src/base/thread.h"
#include "src/mysql.h"
#include "sync/binlog/position.h"
#include "sync/cascades.h"
#include "sync/delivery/pace.h"
#include "sync/document/loader.h"
#include "sync/document/resolver.h"
#include "sync/fan_out.h"
#include "sync/known_server.h"
#include "sync/read_links.h"
#include "sync/read_position.h"
#include "sync/resolve_task.h"
#include "sync/routing.h"
#include "sync/server_info.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOADERS_MAX     8
#define VIEW_TIMEOUT_MS 10000
#define RETRY_MS        500
#define SUBMIT_MAX      256
#define LOADS_WAITING_MAX \
    256 /* far more than delivery ever has outstanding, so it never waits */
#define RESOLVES_WAITING_MAX 1024
#define GATHER_MAX           200 /* resolve tasks that are taken together */
#define GATHER_FLOW          4   /* tasks in a window that are worth waiting for more */
#define GATHER_LOOK_MS       10

struct reread {
    struct reread_options opt;
    struct stop stop;
    struct queue *loads;
    struct queue *resolves;
    size_t resolving;            /* atomic */
    struct reread_status status; /* atomics */
    unsigned n_loaders;
    pthread_t loaders[LOADERS_MAX];
    pthread_t resolver;
    bool started;
};

static void count(uint64_t *counter, uint64_t n)
{
    __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

struct reread *reread_new(const struct reread_options *opt)
{
    struct reread *r = mem_alloc(1, sizeof(*r));

    r->opt = *opt;
    if (r->opt.resolve_bytes == 0)
        r->opt.resolve_bytes = 8 << 20;
    r->n_loaders = opt->loaders == 0 ? 2 : opt->loaders;
    if (r->n_loaders > LOADERS_MAX)
        r->n_loaders = LOADERS_MAX;
    stop_init(&r->stop);
    r->loads = queue_new(LOADS_WAITING_MAX, SIZE_MAX / 2);
    r->resolves = queue_new(RESOLVES_WAITING_MAX, r->opt.resolve_bytes);
    return r;
}

static struct read_links make_links(struct reread *r, uint64_t *statements)
{
    return (struct read_links){.own.opt = {.topic = r->opt.topic,
                                           .primary = r->opt.server,
                                           .known = r->opt.known,
                                           .reader = r->opt.reader,
                                           .stop = &r->stop,
                                           .timeout_ms = VIEW_TIMEOUT_MS,
                                           .statements = statements},
                               .peers = r->opt.peers};
}

static void fill_item(struct load_item *item, const struct loaded *from, uint64_t stamp)
{
    item->stamp = stamp;
    item->elsewhere = from->body.ptr != NULL && !str_equal(from->routing, item->routing);
    item->other = from->routing;
    item->found = from->body.ptr != NULL && !item->elsewhere;
    item->body = item->found ? from->body : (struct str){0};
    if (from->err != NULL) {
        item->failed = true;
        item->err = *from->err;
    }
}

static bool log_end_at(struct reread *r, struct mysql_conn *conn, uint64_t *version,
                       struct err *err)
{
    const uint64_t epoch = read_position_version(r->opt.reader) >> 53;
    struct log_end end;

    if (!server_log_end(conn, &end, err))
        return false;
    free(end.gtids);
    return position_version((struct position){str_from(end.file), end.offset}, epoch, version,
                            err);
}

/* Where the followed log ended after a read: a replica shows nothing that is beyond it. */
static bool log_end_after(struct reread *r, const struct read_link *l, uint64_t *version,
                          struct err *err)
{
    struct mysql_conn *conn = NULL;

    if (!l->replica)
        return log_end_at(r, l->conn, version, err);

    const bool ok = known_server_open(r->opt.known, &r->opt.server->options, &conn, err) &&
                    log_end_at(r, conn, version, err);

    mysql_conn_close(conn);
    return ok;
}

/* The log may not tell what else is gone with a row (sync/cascades.h). */
static bool keep_gone(struct reread *r, struct read_links *l, struct load_batch *b,
                      struct err *err)
{
    bool any = false;

    if (b->area > 0 || !cascades_lead_on(r->opt.cascades, b->target))
        return true;
    for (size_t i = 0; i < b->n_items; i++) {
        struct load_item *item = &b->items[i];

        item->stays = !item->found && !item->elsewhere && !item->failed && item->depth < CASCADE_DEPTH_MAX;
        any = any || item->stays;
    }
    return !any || log_end_after(r, &l->own, &b->log_end, err);
}

static bool load_keys(struct mysql_conn *const *of, struct load_batch *b, const struct str *keys,
                      struct loaded *out, struct err *err)
{
    const struct plan *p = ((struct reading *)b->target->plan)->plan;

    return b->area > 0 ? loader_load_area(of, p, b->area, keys, b->n_items, b->arena, out, err)
                       : loader_load(of, p, keys, b->n_items, b->arena, out, err);
}

static bool load(struct reread *r, struct read_links *l, struct load_batch *b, struct err *err)
{
    struct reading *from = b->target->plan;
    struct str *keys = arena_alloc(b->arena, b->n_items, sizeof(*keys));
    struct loaded *out = arena_alloc(b->arena, b->n_items, sizeof(*out));
    uint64_t stamp;

    for (size_t i = 0; i < b->n_items; i++)
        keys[i] = b->items[i].key;
    if (!read_links_open(l, from, b->at_least, &stamp, err) ||
        !load_keys(l->conns, b, keys, out, err) || !read_links_end(l, err))
        return false;
    for (size_t i = 0; i < b->n_items; i++)
        fill_item(&b->items[i], &out[i], stamp);
    if (!keep_gone(r, l, b, err))
        return false;
    count(&r->status.loads, 1);
    count(&r->status.documents, b->n_items);
    return true;
}

static void fail_batch(struct load_batch *b, const struct err *err)
{
    for (size_t i = 0; i < b->n_items; i++) {
        b->items[i].failed = true;
        b->items[i].err = *err;
    }
}

static void *loader_main(void *arg)
{
    struct reread *r = arg;
    struct read_links l = make_links(r, &r->status.load_statements);
    struct load_batch *b;

    while ((b = queue_pop(r->loads)) != NULL) {
        struct err err = {0};

        if (stop_is_set(&r->stop)) {
            err_set(&err, ERR_STOP, "stopping");
            fail_batch(b, &err);
        } else if (!load(r, &l, b, &err)) {
            count(&r->status.failures, 1);
            if (err.kind != ERR_STOP)
                log_failure(LOG_WARN, &err, "documents could not be read again",
                            KV("topic", r->opt.topic), KV("table", b->target->table),
                            KV("documents", b->n_items));
            fail_batch(b, &err);
            read_links_close(&l);
        }
        delivery_loaded(r->opt.delivery, b);
    }
    read_links_fini(&l);
    return NULL;
}

void reread_load(struct reread *r, struct load_batch *batch)
{
    if (queue_push(r->loads, batch, 1))
        return;

    struct err err = {0};

    err_set(&err, ERR_STOP, "stopping");
    fail_batch(batch, &err);
    delivery_loaded(r->opt.delivery, batch);
}

/* How a task ends for each of its keys; what it leads to at all is known when it has worked. */
enum lead {
    LEADS_NOWHERE = 0,
    LEADS_ON,      /* documents were handed over */
    LEADS_TO_MANY, /* they are worked off later */
};

/* Found documents on their way to delivery. */
struct found {
    struct reread *r;
    const struct resolve_task *task;
    const struct resolve_keys *keys; /* the task's */
    struct arena *arena;
    struct doc_write writes[SUBMIT_MAX];
    size_t n;
    enum lead *leads;    /* of the keys */
    struct str *crowded; /* keys of this try */
    size_t n_crowded;
    bool closed;
};

static bool flush(struct found *f)
{
    struct err err = {0};

    if (f->n > 0 &&
        !delivery_submit_until(f->r->opt.delivery, &f->r->stop, f->writes, f->n, &err)) {
        f->closed = true;
        for (size_t i = 0; i < f->n; i++) {
            ticket_abandon(f->writes[i].ticket);
            target_unref(f->writes[i].target);
        }
    }
    count(&f->r->status.resolved, f->n);
    f->n = 0;
    arena_free(f->arena);
    f->arena = arena_new();
    return !f->closed && !stop_is_set(&f->r->stop);
}

/* For each row that changed: whoever is found twice is read once by delivery. */
static bool on_found(void *ctx, size_t key, struct str id, struct str root_key,
                     struct str routing)
{
    struct found *f = ctx;
    size_t row = f->keys->first[key];

    if (f->leads[key] == LEADS_NOWHERE)
        f->leads[key] = LEADS_ON;
    for (;;) {
        f->writes[f->n++] = (struct doc_write){
            .target = target_ref(f->task->target),
            .ticket = ticket_ref(f->task->tickets[row]),
            .op = DOC_REFRESH,
            .area = f->task->area,
            .version = f->task->at_least,
            .id = arena_copy(f->arena, id),
            .key = arena_copy(f->arena, root_key),
            .routing = arena_copy(f->arena, routing),
            .commit_ms = f->task->commit_ms,
        };
        if (f->n == SUBMIT_MAX && !flush(f))
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

/* Durable with that, so the change is done. */
static bool put_crowded(struct found *f, struct err *err)
{
    const struct resolve_task *t = f->task;

    return f->n_crowded == 0 || fan_out_put(f->r->opt.fan_out,
                                            &(struct fan_out_rows){.target = t->target,
                                                                   .place = t->place,
                                                                   .by_row = t->by_row,
                                                                   .keys = f->crowded,
                                                                   .n = f->n_crowded,
                                                                   .at_least = t->at_least},
                                            err);
}

/* A task that is worked at. */
struct resolving {
    struct resolve_task *task;
    struct resolve_keys keys;
    enum lead *leads; /* of the keys */
};

/* In an open read. */
static bool find_documents(struct reread *r, struct read_links *l, const struct resolving *g,
                           struct err *err)
{
    const struct resolve_task *t = g->task;
    struct found f = {
        .r = r, .task = t, .keys = &g->keys, .arena = arena_new(), .leads = g->leads};
    const struct resolver_rows rows = {.plan = ((const struct reading *)t->target->plan)->plan,
                                       .place = t->place,
                                       .by_row = t->by_row,
                                       .keys = g->keys.keys,
                                       .n = g->keys.n};
    const struct resolver_sink sink = {on_found, on_crowded, &f};

    f.crowded = mem_alloc(rows.n, sizeof(*f.crowded));
    for (size_t i = 0; i < rows.n; i++)
        if (g->leads[i] == LEADS_TO_MANY) /* in a try that failed */
            g->leads[i] = LEADS_NOWHERE;

    bool ok = resolver_find(l->conns, &rows, &sink, err);

    if (!flush(&f) && ok)
        ok = err_set(err, ERR_STOP, "stopping");
    ok = ok && put_crowded(&f, err);
    arena_free(f.arena);
    free(f.crowded);
    return ok;
}

/* Documents of another topic are its owner's: what leads to them is handed over, durably. */
static bool is_guest(const struct reread *r, const struct target *t)
{
    return strcmp(t->topic, r->opt.topic) != 0;
}

static bool hand_over(struct reread *r, const struct resolving *g, size_t n, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        const struct resolve_task *t = g[i].task;

        for (size_t k = 0; k < g[i].keys.n; k++)
            g[i].leads[k] = LEADS_TO_MANY;
        ok = fan_out_put(r->opt.fan_out,
                         &(struct fan_out_rows){.target = t->target,
                                                .place = t->place,
                                                .by_row = t->by_row,
                                                .keys = g[i].keys.keys,
                                                .n = g[i].keys.n,
                                                .at_least = t->at_least},
                         err);
    }
    return ok;
}

/* Tasks of one target, in one read that includes what any of them needs. */
static bool resolve(struct reread *r, struct read_links *l, const struct resolving *g, size_t n,
                    struct err *err)
{
    uint64_t at_least = 0, stamp;
    bool ok;

    for (size_t i = 0; i < n; i++)
        if (g[i].task->at_least > at_least)
            at_least = g[i].task->at_least;
    ok = read_links_open(l, g[0].task->target->plan, at_least, &stamp, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = find_documents(r, l, &g[i], err);
    return ok && read_links_end(l, err);
}

static void end_task(const struct resolving *g)
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

/* They are repeated until they work: what was found so far was only asked for early. */
static void run_tasks(struct reread *r, struct read_links *l, struct resolving *g, size_t n)
{
    const bool guest = is_guest(r, g[0].task->target);
    struct err err = {0};

    for (size_t i = 0; i < n; i++) {
        g[i].keys = resolve_task_keys(g[i].task);
        g[i].leads = arena_alloc(g[i].task->arena, g[i].keys.n, sizeof(*g[i].leads));
    }
    while (!(guest ? hand_over(r, g, n, &err) : resolve(r, l, g, n, &err))) {
        read_links_close(l);
        if (err.kind == ERR_STOP || stop_wait(&r->stop, RETRY_MS)) {
            for (size_t i = 0; i < n; i++)
                resolve_task_abandon(g[i].task);
            return;
        }
        count(&r->status.failures, 1);
        log_failure(LOG_WARN, &err,
                    "documents of a related row could not be found, trying again",
                    KV("topic", r->opt.topic), KV("table", g[0].task->target->table));
    }
    for (size_t i = 0; i < n; i++)
        end_task(&g[i]);
}

/* Takes them over; of one target. */
static void do_tasks(struct reread *r, struct read_links *l, struct resolving *g, size_t n)
{
    if (!stop_is_set(&r->stop))
        run_tasks(r, l, g, n);
    for (size_t i = 0; i < n; i++) {
        const size_t n_tasks = g[i].task->n_tasks;

        if (g[i].leads == NULL) /* nothing was done */
            resolve_task_abandon(g[i].task);
        resolve_task_free(g[i].task);
        __atomic_sub_fetch(&r->resolving, n_tasks, __ATOMIC_RELAXED);
    }
    count(&r->status.resolves, n);
}

/* Where many rows change, their documents are looked for together. */
static void gather(struct reread *r, struct pace *pace)
{
    for (;;) {
        const size_t n = queue_level(r->resolves).items;
        const int64_t now_ms = clock_mono_ms(), at_ms = pace_reads_at(pace, n, now_ms);

        if (at_ms <= now_ms || n >= GATHER_MAX)
            return;
        if (stop_wait(&r->stop, at_ms - now_ms < GATHER_LOOK_MS ? at_ms - now_ms : GATHER_LOOK_MS))
            return;
    }
}

/* Those that wait, of one kind together; the number of them. */
static size_t take_tasks(struct reread *r, struct pace *pace, struct resolve_task **out)
{
    struct resolve_task *t = queue_pop(r->resolves);
    size_t n = 0, n_taken = 0;

    if (t == NULL)
        return 0;
    pace_ask(pace, clock_mono_ms(), false);
    gather(r, pace);
    pace_read(pace, clock_mono_ms());
    for (;;) {
        bool joined = false;

        for (size_t i = n; i > 0 && !joined; i--)
            joined = resolve_task_take(out[i - 1], t);
        if (!joined)
            out[n++] = t;
        if (++n_taken == GATHER_MAX || queue_level(r->resolves).items == 0)
            return n;
        t = queue_pop(r->resolves); /* nobody else takes one, so it does not wait */
        pace_ask(pace, clock_mono_ms(), false);
    }
}

/* Those of the first's target, from tasks to out; the number of them. */
static size_t split_off(struct resolve_task **tasks, size_t *n, struct resolving *out)
{
    const struct target *target = tasks[0]->target;
    size_t n_out = 0, n_left = 0;

    for (size_t i = 0; i < *n; i++)
        if (tasks[i]->target == target)
            out[n_out++] = (struct resolving){.task = tasks[i]};
        else
            tasks[n_left++] = tasks[i];
    *n = n_left;
    return n_out;
}

static void *resolver_main(void *arg)
{
    struct reread *r = arg;
    struct read_links l = make_links(r, &r->status.resolve_statements);
    struct resolve_task *tasks[GATHER_MAX];
    struct resolving alike[GATHER_MAX];
    struct pace pace;
    size_t n;

    pace_init(&pace, r->opt.window_ms, GATHER_FLOW, GATHER_MAX);
    while ((n = take_tasks(r, &pace, tasks)) > 0)
        while (n > 0) {
            const size_t n_alike = split_off(tasks, &n, alike);

            do_tasks(r, &l, alike, n_alike);
        }
    read_links_fini(&l);
    return NULL;
}

bool reread_resolve(struct reread *r, struct resolve_task *task)
{
    __atomic_add_fetch(&r->resolving, 1, __ATOMIC_RELAXED);
    if (queue_push(r->resolves, task, arena_size(task->arena)))
        return true;
    __atomic_sub_fetch(&r->resolving, 1, __ATOMIC_RELAXED);
    resolve_task_abandon(task);
    resolve_task_free(task);
    return false;
}

size_t reread_pending(struct reread *r)
{
    return __atomic_load_n(&r->resolving, __ATOMIC_RELAXED);
}

struct reread_status reread_status(struct reread *r)
{
    return (struct reread_status){
        .loads = __atomic_load_n(&r->status.loads, __ATOMIC_RELAXED),
        .documents = __atomic_load_n(&r->status.documents, __ATOMIC_RELAXED),
        .resolves = __atomic_load_n(&r->status.resolves, __ATOMIC_RELAXED),
        .resolved = __atomic_load_n(&r->status.resolved, __ATOMIC_RELAXED),
        .failures = __atomic_load_n(&r->status.failures, __ATOMIC_RELAXED),
        .load_statements = __atomic_load_n(&r->status.load_statements, __ATOMIC_RELAXED),
        .resolve_statements = __atomic_load_n(&r->status.resolve_statements, __ATOMIC_RELAXED),
    };
}

void reread_start(struct reread *r)
{
    r->started = true;
    for (unsigned i = 0; i < r->n_loaders; i++)
        r->loaders[i] = thread_start("loader", loader_main, r);
    r->resolver = thread_start("resolver", resolver_main, r);
}

void reread_stop(struct reread *r)
{
    stop_set(&r->stop);
    queue_close(r->loads);
    queue_close(r->resolves);
    if (!r->started)
        return;
    for (unsigned i = 0; i < r->n_loaders; i++)
        pthread_join(r->loaders[i], NULL);
    pthread_join(r->resolver, NULL);
    r->started = false;
}

void reread_free(struct reread *r)
{
    if (r == NULL)
        return;
    queue_free(r->loads, free);
    queue_free(r->resolves, free);
    stop_fini(&r->stop);
    free(r);
}
