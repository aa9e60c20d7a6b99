#include "config.h"

#include "sync/load/reread.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/queue.h"
#include "src/base/thread.h"
#include "sync/delivery/index/pace.h"
#include "sync/load/load_run.h"
#include "sync/read/access_denied.h"
#include "sync/read/links.h"
#include "sync/related/resolve_run.h"
#include "sync/related/resolve_task.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOADERS_MAX     8
#define VIEW_TIMEOUT_MS 10000
#define LOADS_WAITING_MAX \
    256 /* far more than delivery ever has outstanding, so pushing never blocks */
#define RESOLVES_WAITING_MAX 1024
#define GATHER_FLOW          4 /* tasks per window from which waiting for more pays */
#define GATHER_WINDOWS       4 /* windows to wait then */
#define GATHER_LOOK_MS       10

/* Threads that serve two queues: n_loaders read batches, one resolves. */
struct crew {
    enum magic magic;
    struct reread *r;
    struct queue *loads;
    struct queue *resolves;
    pthread_t loaders[LOADERS_MAX];
    pthread_t resolver;
};

struct reread {
    struct reread_options opt;
    struct stop stop;
    int64_t window_ms; /* atomic */

    struct lock lock;

    /* All guarded by lock. */
    unsigned n_loaders; /* per crew; never decreases */
    unsigned n_started; /* threads started */
    bool started;

    /* cross_topic serves documents that show tables of other topics, and waits for their
     * servers. */
    struct crew own_topic, cross_topic;
    size_t resolving;            /* atomic */
    struct reread_status status; /* atomics */
};

static void count(uint64_t *counter, uint64_t n)
{
    __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

static void init_crew(struct crew *c, struct reread *r)
{
    *c = (struct crew){.magic = MAGIC_crew,
                       .r = r,
                       .loads = queue_new(LOADS_WAITING_MAX, SIZE_MAX / 2),
                       .resolves = queue_new(RESOLVES_WAITING_MAX, r->opt.resolve_bytes)};
}

static struct crew *crew_for(struct reread *r, const struct target *t)
{
    return t->cross_topic ? &r->cross_topic : &r->own_topic;
}

static unsigned n_loaders(unsigned wanted)
{
    return wanted < LOADERS_MAX ? wanted : LOADERS_MAX;
}

struct reread *reread_new(const struct reread_options *opt)
{
    struct reread *r = mem_alloc(1, sizeof(*r));

    r->opt = *opt;
    if (r->opt.resolve_bytes == 0)
        r->opt.resolve_bytes = 8 << 20;
    r->n_loaders = n_loaders(opt->loaders == 0 ? 2 : opt->loaders);
    r->window_ms = opt->window_ms;
    lock_init(&r->lock, LOCK_private);
    stop_init(&r->stop);
    init_crew(&r->own_topic, r);
    init_crew(&r->cross_topic, r);
    return r;
}

static struct read_links make_links(struct reread *r, uint64_t *statements)
{
    return (struct read_links){.own.opt = {.topic = r->opt.topic,
                                           .primary = r->opt.server,
                                           .known = r->opt.known,
                                           .group = r->opt.group,
                                           .reader = r->opt.reader,
                                           .stop = &r->stop,
                                           .timeout_ms = VIEW_TIMEOUT_MS,
                                           .statements = statements},
                               .registry = r->opt.registry};
}

static void *loader_main(void *arg)
{
    struct crew *c = MAGIC_CAST(crew, arg);
    struct reread *r = c->r;
    const struct load_run_options opt = {r->opt.reader, r->opt.server, r->opt.known,
                                         r->opt.cascades, &r->status.rootless};
    struct read_links l = make_links(r, &r->status.load_statements);
    struct load_batch *b;

    while ((b = queue_pop(c->loads)) != NULL) {
        struct err err = {0};

        if (stop_is_set(&r->stop)) {
            err_set(&err, ERR_STOP, "stopping");
            load_run_fail(b, &err);
        } else if (!load_run(&opt, &l, b, &err)) {
            count(&r->status.failures, 1);
            access_denied_tell(r->opt.denied, b->target->index, ACCESS_DENIED_DOCUMENTS, &err);
            if (err.kind != ERR_STOP)
                log_failure(LOG_WARN, &err, "could not read documents again",
                            KV("topic", r->opt.topic), KV("table", b->target->table),
                            KV("documents", b->n_items));
            load_run_fail(b, &err);
            read_links_close(&l);
        } else {
            access_denied_tell(r->opt.denied, b->target->index, ACCESS_DENIED_DOCUMENTS, NULL);
            count(&r->status.loads, 1);
            count(&r->status.documents, load_run_count(b));
        }
        delivery_loaded(r->opt.delivery, b);
    }
    read_links_fini(&l);
    return NULL;
}

void reread_load(struct reread *r, struct load_batch *batch)
{
    if (queue_push(crew_for(r, batch->target)->loads, batch, 1))
        return;

    struct err err = {0};

    err_set(&err, ERR_STOP, "stopping");
    load_run_fail(batch, &err);
    delivery_loaded(r->opt.delivery, batch);
}

/* Collects tasks to be taken together. */
struct gathering {
    struct pace pace;
    int64_t window_ms; /* the window that pace was made for */
    size_t n_asked;    /* waiting tasks that pace has counted */
};

static struct pace_options pace_of(int64_t window_ms)
{
    return (struct pace_options){.window_ms = GATHER_WINDOWS * window_ms,
                                 .longest_ms = GATHER_WINDOWS * window_ms,
                                 .flow = GATHER_FLOW,
                                 .enough = RESOLVE_TASKS_MAX};
}

static void gathering_init(struct gathering *g, int64_t window_ms)
{
    const struct pace_options opt = pace_of(window_ms);

    *g = (struct gathering){.window_ms = window_ms};
    pace_init(&g->pace, &opt);
}

/* The window may have changed. */
static void look_at_window(const struct reread *r, struct gathering *g)
{
    const int64_t window_ms = __atomic_load_n(&r->window_ms, __ATOMIC_RELAXED);
    const struct pace_options opt = pace_of(window_ms);

    if (window_ms == g->window_ms)
        return;
    g->window_ms = window_ms;
    pace_set(&g->pace, &opt);
}

/* Take one more task. */
static void ask(struct crew *c, struct gathering *g)
{
    const struct delivery_status s = delivery_status(c->r->opt.delivery);
    const bool alone =
        s.queued + s.loading + s.in_flight == 0 && queue_level(c->resolves).items == 0;

    if (g->n_asked > 0)
        g->n_asked--;
    else
        pace_ask(&g->pace, clock_mono_ms(), alone ? PACE_ALONE : PACE_AMONG);
}

/* If many rows change, collect tasks to resolve them together. */
static void gather(struct crew *c, struct gathering *g)
{
    for (;;) {
        const size_t n = queue_level(c->resolves).items;
        const int64_t now_ms = clock_mono_ms();

        for (; g->n_asked < n; g->n_asked++)
            pace_ask(&g->pace, now_ms, PACE_AMONG);

        const int64_t ms = pace_reads_at(&g->pace, n + 1, now_ms) - now_ms;

        if (ms <= 0 || n >= RESOLVE_TASKS_MAX ||
            stop_wait(&c->r->stop, ms < GATHER_LOOK_MS ? ms : GATHER_LOOK_MS))
            break;
    }
    pace_read(&g->pace, clock_mono_ms());
}

/* Take the waiting tasks of one kind.  Returns how many. */
static size_t take_tasks(struct crew *c, struct gathering *g, struct resolve_task **out)
{
    struct resolve_task *t = queue_pop(c->resolves);
    size_t n = 0, n_taken = 0;

    if (t == NULL)
        return 0;
    look_at_window(c->r, g);
    ask(c, g);
    gather(c, g);
    for (;;) {
        bool joined = false;

        for (size_t i = n; i > 0 && !joined; i--)
            joined = resolve_task_take(out[i - 1], t);
        if (!joined)
            out[n++] = t;
        if (++n_taken == RESOLVE_TASKS_MAX || queue_level(c->resolves).items == 0)
            return n;
        t = queue_pop(c->resolves); /* no other thread takes tasks, so this does not block */
        ask(c, g);
    }
}

static void *resolver_main(void *arg)
{
    struct crew *c = MAGIC_CAST(crew, arg);
    struct reread *r = c->r;
    const struct resolve_run_options opt = {.topic = r->opt.topic,
                                            .delivery = r->opt.delivery,
                                            .fan_out = r->opt.fan_out,
                                            .stop = &r->stop,
                                            .pending = &r->resolving,
                                            .resolved = &r->status.resolved,
                                            .resolves = &r->status.resolves,
                                            .failures = &r->status.failures};
    struct read_links l = make_links(r, &r->status.resolve_statements);
    struct resolve_task *tasks[RESOLVE_TASKS_MAX];
    struct gathering g;
    size_t n;

    gathering_init(&g, __atomic_load_n(&r->window_ms, __ATOMIC_RELAXED));
    while ((n = take_tasks(c, &g, tasks)) > 0)
        resolve_run(&opt, &l, tasks, n);
    read_links_fini(&l);
    return NULL;
}

bool reread_resolve(struct reread *r, struct resolve_task *task)
{
    __atomic_add_fetch(&r->resolving, 1, __ATOMIC_RELAXED);
    if (queue_push(crew_for(r, task->target)->resolves, task, arena_size(task->arena)))
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
        .rootless = __atomic_load_n(&r->status.rootless, __ATOMIC_RELAXED),
        .load_statements = __atomic_load_n(&r->status.load_statements, __ATOMIC_RELAXED),
        .resolve_statements = __atomic_load_n(&r->status.resolve_statements, __ATOMIC_RELAXED),
    };
}

static void start_loaders(struct reread *r) NEEDS(r->lock)
{
    for (; r->n_started < r->n_loaders; r->n_started++) {
        r->own_topic.loaders[r->n_started] = thread_start("loader", loader_main, &r->own_topic);
        r->cross_topic.loaders[r->n_started] =
            thread_start("loader", loader_main, &r->cross_topic);
    }
}

static void join_crew(struct crew *c, unsigned n_started)
{
    for (unsigned i = 0; i < n_started; i++)
        pthread_join(c->loaders[i], NULL);
    pthread_join(c->resolver, NULL);
}

void reread_start(struct reread *r)
{
    lock_acquire(&r->lock);
    r->started = true;
    start_loaders(r);
    r->own_topic.resolver = thread_start("resolver", resolver_main, &r->own_topic);
    r->cross_topic.resolver = thread_start("resolver", resolver_main, &r->cross_topic);
    lock_release(&r->lock);
}

void reread_set(struct reread *r, unsigned loaders, int64_t window_ms)
{
    __atomic_store_n(&r->window_ms, window_ms, __ATOMIC_RELAXED);
    lock_acquire(&r->lock);
    if (n_loaders(loaders) > r->n_loaders)
        r->n_loaders = n_loaders(loaders);
    if (r->started)
        start_loaders(r);
    lock_release(&r->lock);
}

static void close_crew(struct crew *c)
{
    queue_close(c->loads);
    queue_close(c->resolves);
}

void reread_stop(struct reread *r)
{
    stop_set(&r->stop);
    close_crew(&r->own_topic);
    close_crew(&r->cross_topic);
    lock_acquire(&r->lock);

    const bool started = r->started;
    const unsigned n_started = r->n_started;

    r->started = false;
    lock_release(&r->lock);
    if (!started)
        return;
    join_crew(&r->own_topic, n_started);
    join_crew(&r->cross_topic, n_started);
}

static void fini_crew(struct crew *c)
{
    queue_free(c->loads, free);
    queue_free(c->resolves, free);
    MAGIC_END(crew, c);
}

void reread_free(struct reread *r)
{
    if (r == NULL)
        return;
    fini_crew(&r->own_topic);
    fini_crew(&r->cross_topic);
    stop_fini(&r->stop);
    lock_fini(&r->lock);
    free(r);
}
