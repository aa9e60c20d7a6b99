#include "config.h"

#include "web/wishes.h"

#include "rebalance/admin/follow.h"
#include "rebalance/shared/wishes.h"
#include "rebalance/state/owned.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "web/edge/pool.h"
#include "web/request.h"
#include "web/routes.h"

#include <stdlib.h>

#define LOOK_MS  500
#define PRUNE_MS 600000
#define TRY_MS   500    /* before the store is asked again */
#define LATE_MS  300000 /* its requester has given up long ago, or ended before it could */
#define THREADS  4
#define WAITING  64 /* that no thread has begun; the store keeps the others */

struct wishes {
    enum magic magic;
    struct api api;
    struct stop stop;
    pthread_t thread;
    struct pool *pool;

    struct lock lock;

    /* All guarded by lock. */
    struct wish_job *jobs;
};

/* One wish, from the look that found it until it has ended or is another node's. */
struct wish_job {
    enum magic magic;
    struct wishes *all;
    struct arena *arena;
    struct open_wish open;
    struct wish_job *next;
};

/* ---- one wish ---- */

static void answer_late(struct response *res)
{
    response_set_problem(res, &(struct response_problem){
                                  .status = 503,
                                  .detail = STR("the command came too late, and nothing was "
                                                "done"),
                                  .fix = STR("send the command again")});
}

static void carry_out(struct wish_job *j, const struct stored_wish *w, struct response *res)
{
    struct request req = {.method = request_method_parse(w->method),
                          .role = ROLE_ADMIN, /* the node that was asked has checked it */
                          .content_type = STR("application/json"),
                          .body = w->body,
                          .user = w->user,
                          .is_wish = true};
    struct err err = {0};

    if (clock_wall_ms() - w->at_ms > LATE_MS)
        answer_late(res);
    else if (request_target_parse(&req.target, j->arena, w->target, &err))
        routes_handle(&j->all->api, &req, res);
    else
        response_set_err(res, &err, STR(""));
    log_info("a request of another node", KV("node", w->node), KV("user", w->user),
             KV("method", w->method), KV("target", w->target), KV("status", res->status));
}

/* Whoever waits for it gets no other answer, so try as long as the topic is ours. */
static void end(struct wish_job *j, const struct response *res)
{
    const struct wish_answer answer = {
        .taken = j->open.term, .status = res->status, .body = buf_str(&res->body)};
    struct err err = {0};

    while (!coordinator_end_wish(j->all->api.coordinator, &j->open, &answer, &err)) {
        log_failure(LOG_WARN, &err, "could not store the answer to another node",
                    KV("topic", j->open.topic));
        if (err.kind != ERR_RETRY || stop_wait(&j->all->stop, TRY_MS))
            return;
        err = (struct err){0};
    }
}

static void forget(struct wish_job *j)
{
    struct wishes *w = j->all;

    lock_acquire(&w->lock);
    for (struct wish_job **at = &w->jobs; *at != NULL; at = &(*at)->next)
        if (*at == j) {
            *at = j->next;
            break;
        }
    lock_release(&w->lock);
    arena_free(j->arena);
    MAGIC_END(wish_job, j);
    free(j);
}

/* If the store fails, the next look finds the wish again. */
static void run_job(void *item)
{
    struct wish_job *j = MAGIC_CAST(wish_job, item);
    struct stored_wish w = {0};
    struct response res = {0};
    struct err err = {0};
    bool run = false;

    if (!stop_is_set(&j->all->stop) &&
        coordinator_take_wish(j->all->api.coordinator, j->arena, &j->open, &w, &run, &err) &&
        run) {
        carry_out(j, &w, &res);
        end(j, &res);
    }
    buf_free(&res.body);
    forget(j);
}

/* ---- looking ---- */

static bool has_job(struct wishes *w, uint64_t id)
{
    const struct wish_job *j;

    lock_acquire(&w->lock);
    for (j = w->jobs; j != NULL && j->open.id != id; j = j->next)
        continue;
    lock_release(&w->lock);
    return j != NULL;
}

static void begin(struct wishes *w, const struct open_wish *open)
{
    struct wish_job *j = mem_alloc(1, sizeof(*j));

    *j = (struct wish_job){
        .magic = MAGIC_wish_job, .all = w, .arena = arena_new(), .open = *open};
    j->open.topic = arena_copy(j->arena, open->topic);
    lock_acquire(&w->lock);
    j->next = w->jobs;
    w->jobs = j;
    lock_release(&w->lock);
    if (!pool_push(w->pool, j))
        forget(j);
}

static size_t load(struct wishes *w, struct arena *a, struct open_wish **list)
{
    struct err err = {0};
    size_t n = 0;

    if (!coordinator_load_wishes(w->api.coordinator, a, list, &n, &err))
        log_debug("could not look for requests of other nodes",
                  KV("why", (const char *)err.msg));
    return n;
}

static bool has_new(struct wishes *w, const struct open_wish *list, size_t n)
{
    bool any = false;

    for (size_t i = 0; i < n; i++)
        any = any || !has_job(w, list[i].id);
    return any;
}

/* A request may follow from what was stored just before, which may give its topic a new term.
 */
static void look(struct wishes *w)
{
    struct arena *a = arena_new();
    struct open_wish *list;
    size_t n = load(w, a, &list);

    if (has_new(w, list, n)) {
        coordinator_catch_up(w->api.coordinator);
        n = load(w, a, &list);
    }
    for (size_t i = 0; i < n; i++)
        if (!has_job(w, list[i].id))
            begin(w, &list[i]);
    arena_free(a);
}

static void prune(struct wishes *w)
{
    struct err err = {0};

    if (!coordinator_prune_wishes(w->api.coordinator, &err))
        log_debug("could not forget old requests", KV("why", (const char *)err.msg));
}

static void *wishes_main(void *arg)
{
    struct wishes *w = MAGIC_CAST(wishes, arg);
    int64_t prune_ms = 0;

    while (!stop_wait(&w->stop, LOOK_MS)) {
        look(w);
        if (clock_mono_ms() < prune_ms)
            continue;
        prune_ms = clock_mono_ms() + PRUNE_MS;
        prune(w);
    }
    return NULL;
}

struct wishes *wishes_start(const struct api *api)
{
    if (!coordinator_is_shared(api->coordinator))
        return NULL;

    struct wishes *w = mem_alloc(1, sizeof(*w));

    w->magic = MAGIC_wishes;
    w->api = *api;
    stop_init(&w->stop);
    lock_init(&w->lock, LOCK_private);
    w->pool = pool_start(&(struct pool_options){
        .name = "web wish", .n_threads = THREADS, .waiting_max = WAITING, .run = run_job});
    w->thread = thread_start("wishes", wishes_main, w);
    return w;
}

void wishes_stop(struct wishes *w)
{
    if (w == NULL)
        return;
    stop_set(&w->stop);
    pthread_join(w->thread, NULL);
    pool_stop(w->pool);
    pool_free(w->pool);
    lock_fini(&w->lock);
    stop_fini(&w->stop);
    MAGIC_END(wishes, w);
    free(w);
}
