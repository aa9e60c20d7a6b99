#include "config.h"

#include "sync/reread.h"

#include "src/base/arena.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/queue.h"
#include "src/base/thread.h"
#include "src/mysql.h"
#include "sync/binlog/position.h"
#include "sync/cascades.h"
#include "sync/document/loader.h"
#include "sync/document/resolver.h"
#include "sync/fan_out.h"
#include "sync/known_server.h"
#include "sync/read_links.h"
#include "sync/read_position.h"
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
    struct resolve_task *task;
    struct arena *arena;
    struct doc_write writes[SUBMIT_MAX];
    size_t n;
    enum lead *leads;    /* of the task's keys */
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

static bool on_found(void *ctx, size_t key, struct str id, struct str root_key,
                     struct str routing)
{
    struct found *f = ctx;

    if (f->leads[key] == LEADS_NOWHERE)
        f->leads[key] = LEADS_ON;
    f->writes[f->n++] = (struct doc_write){
        .target = target_ref(f->task->target),
        .ticket = ticket_ref(f->task->tickets[key]),
        .op = DOC_REFRESH,
        .area = f->task->area,
        .version = f->task->at_least,
        .id = arena_copy(f->arena, id),
        .key = arena_copy(f->arena, root_key),
        .routing = arena_copy(f->arena, routing),
        .commit_ms = f->task->commit_ms,
    };
    return f->n < SUBMIT_MAX || flush(f);
}

static bool on_crowded(void *ctx, size_t key)
{
    struct found *f = ctx;

    f->leads[key] = LEADS_TO_MANY;
    f->crowded[f->n_crowded++] = f->task->join_keys[key];
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

static bool resolve(struct reread *r, struct read_links *l, struct resolve_task *t,
                    enum lead *leads, struct err *err)
{
    struct reading *from = t->target->plan;
    struct found f = {.r = r, .task = t, .arena = arena_new(), .leads = leads};
    const struct resolver_rows rows = {.plan = from->plan,
                                       .place = t->place,
                                       .by_row = t->by_row,
                                       .keys = t->join_keys,
                                       .n = t->n};
    const struct resolver_sink sink = {on_found, on_crowded, &f};
    uint64_t stamp;

    f.crowded = mem_alloc(t->n, sizeof(*f.crowded));
    for (size_t i = 0; i < t->n; i++)
        if (leads[i] == LEADS_TO_MANY) /* in a try that failed */
            leads[i] = LEADS_NOWHERE;

    bool ok = read_links_open(l, from, t->at_least, &stamp, err) &&
              resolver_find(l->conns, &rows, &sink, err) && read_links_end(l, err);

    if (!flush(&f) && ok)
        ok = err_set(err, ERR_STOP, "stopping");
    ok = ok && put_crowded(&f, err);
    arena_free(f.arena);
    free(f.crowded);
    return ok;
}

/* Documents of another topic are its owner's: what leads to them is handed over, durably. */
static bool is_guest(const struct reread *r, const struct resolve_task *t)
{
    return strcmp(t->target->topic, r->opt.topic) != 0;
}

static bool hand_over(struct reread *r, const struct resolve_task *t, enum lead *leads,
                      struct err *err)
{
    for (size_t i = 0; i < t->n; i++)
        leads[i] = LEADS_TO_MANY;
    return fan_out_put(r->opt.fan_out,
                       &(struct fan_out_rows){.target = t->target,
                                              .place = t->place,
                                              .by_row = t->by_row,
                                              .keys = t->join_keys,
                                              .n = t->n,
                                              .at_least = t->at_least},
                       err);
}

static void abandon_task(struct resolve_task *t)
{
    for (size_t i = 0; i < t->n; i++)
        ticket_abandon(t->tickets[i]);
}

static void free_task(struct resolve_task *t)
{
    target_unref(t->target);
    arena_free(t->arena);
    free(t);
}

/* A task is repeated until it works: what it found so far was only asked for early. */
static void run_task(struct reread *r, struct read_links *l, struct resolve_task *t)
{
    static const enum outcome outcomes[] = {
        [LEADS_NOWHERE] = OUTCOME_FILTERED,
        [LEADS_ON] = OUTCOME_DELIVERED,
        [LEADS_TO_MANY] = OUTCOME_DEFERRED,
    };
    enum lead *leads = arena_alloc(t->arena, t->n, sizeof(*leads));
    struct err err = {0};

    while (!(is_guest(r, t) ? hand_over(r, t, leads, &err) : resolve(r, l, t, leads, &err))) {
        read_links_close(l);
        if (err.kind == ERR_STOP || stop_wait(&r->stop, RETRY_MS)) {
            abandon_task(t);
            return;
        }
        count(&r->status.failures, 1);
        log_failure(LOG_WARN, &err,
                    "documents of a related row could not be found, trying again",
                    KV("topic", r->opt.topic), KV("table", t->target->table));
    }
    for (size_t i = 0; i < t->n; i++)
        ticket_done(t->tickets[i], outcomes[leads[i]]);
}

static void *resolver_main(void *arg)
{
    struct reread *r = arg;
    struct read_links l = make_links(r, &r->status.resolve_statements);
    struct resolve_task *t;

    while ((t = queue_pop(r->resolves)) != NULL) {
        if (!stop_is_set(&r->stop))
            run_task(r, &l, t);
        else
            abandon_task(t);
        count(&r->status.resolves, 1);
        free_task(t);
        __atomic_sub_fetch(&r->resolving, 1, __ATOMIC_RELAXED);
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
    abandon_task(task);
    free_task(task);
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
