#include "config.h"

#include "rebalance/task/task.h"

#include "rebalance/state/coordinator.h"
#include "rebalance/state/parts.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/format/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct task {
    enum magic magic;
    struct tasks *all;
    struct coordinator *co;
    const char *kind;
    char id[48];
    task_fn run;
    void *order;
    int64_t created_ms;
    pthread_t thread;

    /* Guarded by all->lock. */
    struct task *next;
    bool is_over;
    bool is_joined;
    struct buf answer;
    struct err err; /* why there is none */
};

struct tasks {
    struct lock lock;
    /* All guarded by lock. */
    struct task *first; /* the newest */
    uint64_t last_number;
    bool is_ending;
};

/* Numbers begin with the time, so that no task is taken for one from before a restart. */
struct tasks *tasks_new(void)
{
    struct tasks *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_private);
    all->last_number = (uint64_t)(clock_wall_ms() / 1000);
    return all;
}

static void free_task(struct task *t)
{
    buf_free(&t->answer);
    free(t->order);
    MAGIC_END(task, t);
    free(t);
}

static void *task_main(void *arg)
{
    struct task *t = MAGIC_CAST(task, arg);
    struct buf answer = {0};
    struct err err = {0};
    const bool ok = t->run(t->co, t->order, &answer, &err);

    lock_acquire(&t->all->lock);
    t->is_over = true;
    t->err = err;
    if (ok)
        t->answer = answer;
    lock_release(&t->all->lock);
    if (!ok)
        buf_free(&answer);
    return NULL;
}

/* Take out the oldest that are over and more than are kept. */
static struct task *take_old(struct tasks *all) NEEDS(all->lock)
{
    struct task *old = NULL;
    size_t n = 0;

    for (struct task **at = &all->first; *at != NULL;) {
        struct task *t = *at;

        n += t->is_over;
        if (!t->is_over || n <= TASKS_KEPT) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        t->next = old;
        old = t;
    }
    return old;
}

static void free_list(struct task *t)
{
    for (struct task *next; t != NULL; t = next) {
        next = t->next;
        if (!t->is_joined)
            pthread_join(t->thread, NULL);
        free_task(t);
    }
}

static bool may_start(const struct tasks *all, struct err *err) NEEDS(all->lock)
{
    size_t n = 0;

    if (all->is_ending)
        return err_set(err, ERR_RETRY, "the daemon is stopping; fix: try again when it runs");
    for (const struct task *t = all->first; t != NULL; t = t->next)
        n += !t->is_over;
    return n < TASKS_MAX ||
           err_set(err, ERR_RETRY,
                   "%d tasks run already; fix: wait until one of them has ended", TASKS_MAX);
}

static struct task *new_task(struct tasks *all, struct coordinator *co,
                             const struct task_order *o) NEEDS(all->lock)
{
    struct task *t = mem_alloc(1, sizeof(*t));

    t->magic = MAGIC_task;
    t->all = all;
    t->co = co;
    t->kind = o->kind;
    t->run = o->run;
    t->order = mem_alloc(1, o->size + 1);
    if (o->size > 0)
        memcpy(t->order, o->order, o->size);
    t->created_ms = clock_wall_ms();
    snprintf(t->id, sizeof(t->id), "%s-%" PRIu64, o->kind, ++all->last_number);
    t->next = all->first;
    all->first = t;
    t->thread = thread_start("task", task_main, t);
    return t;
}

/* An empty id: it was only tried. */
static void put_start(struct buf *json, const char *kind, const char *id)
{
    struct json_writer w = {.out = json};
    char schema[64];

    snprintf(schema, sizeof(schema), "millrace/%s-start/1", kind);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_cstr(&w, STR("job"), id);
    if (id[0] == '\0')
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

bool tasks_try(const struct task_order *o, struct buf *json)
{
    put_start(json, o->kind, "");
    return true;
}

bool tasks_start(struct tasks *all, struct coordinator *co, const struct task_order *o,
                 struct buf *json, struct err *err)
{
    lock_acquire(&all->lock);

    const bool ok = may_start(all, err);

    if (ok) {
        const struct task *t = new_task(all, co, o);

        put_start(json, t->kind, t->id);
    }

    struct task *old = ok ? take_old(all) : NULL;

    lock_release(&all->lock);
    free_list(old);
    return ok;
}

void tasks_refuse(struct tasks *all)
{
    lock_acquire(&all->lock);
    all->is_ending = true;
    lock_release(&all->lock);
}

/* Returns one that has not been joined, or NULL. */
static struct task *find_open(struct tasks *all)
{
    struct task *t;

    lock_acquire(&all->lock);
    for (t = all->first; t != NULL && t->is_joined;)
        t = t->next;
    lock_release(&all->lock);
    return t;
}

void tasks_join(struct tasks *all)
{
    tasks_refuse(all);
    for (struct task *t; (t = find_open(all)) != NULL;) {
        pthread_join(t->thread, NULL);
        lock_acquire(&all->lock);
        t->is_joined = true;
        lock_release(&all->lock);
    }
}

void tasks_free(struct tasks *all)
{
    if (all == NULL)
        return;
    free_list(all->first);
    lock_fini(&all->lock);
    free(all);
}

/* ---- for people ---- */

/* Every kind of job has these; of a task nobody knows how far it is. */
static void put_pace(struct json_writer *w)
{
    json_put_cstr(w, STR("phase"), "");
    json_put_u64(w, STR("rows_done"), 0);
    json_put_u64(w, STR("rows_total"), 0);
    json_put_double(w, STR("rate"), 0);
    json_put_null(w, STR("remaining_seconds"));
    json_put_cstr(w, STR("waits_for"), "");
    json_put_cstr(w, STR("fix"), "");
}

static const char *state_of(const struct tasks *all, const struct task *t) NEEDS(all->lock)
{
    (void)all;
    if (!t->is_over)
        return "running";
    return t->err.kind == ERR_NONE ? "done" : "failed";
}

static void put_task(struct json_writer *w, const struct tasks *all, const struct task *t)
    NEEDS(all->lock)
{
    json_open_object(w);
    json_put_cstr(w, STR("id"), t->id);
    json_put_cstr(w, STR("kind"), t->kind);
    json_put_cstr(w, STR("index"), "");
    json_put_cstr(w, STR("table"), "");
    json_put_u64(w, STR("version"), 0);
    json_put_cstr(w, STR("state"), state_of(all, t));
    put_pace(w);
    json_put_cstr(w, STR("error"), t->err.msg);
    coordinator_put_time(w, STR("created"), t->created_ms);
    json_close_object(w);
}

void tasks_list(struct tasks *all, struct str name, struct json_writer *w, size_t *n_listed)
{
    lock_acquire(&all->lock);
    for (const struct task *t = all->first; t != NULL; t = t->next)
        if (name.len == 0 ? !t->is_over : str_equal(name, str_from(t->id))) {
            ++*n_listed;
            put_task(w, all, t);
        }
    lock_release(&all->lock);
}

static void put_progress(struct buf *json, const struct task *t)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/verify-progress/1");
    json_put_cstr(&w, STR("job"), t->id);
    put_pace(&w);
    json_close_object(&w);
}

bool tasks_report(struct tasks *all, struct str name, struct buf *json, bool *found,
                  struct err *err)
{
    const struct task *t;
    bool ok = true;

    lock_acquire(&all->lock);
    for (t = all->first; t != NULL && !str_equal(name, str_from(t->id));)
        t = t->next;
    *found = t != NULL;
    if (t != NULL && !t->is_over)
        put_progress(json, t);
    else if (t != NULL && t->err.kind == ERR_NONE)
        buf_append(json, buf_str(&t->answer));
    else if (t != NULL) {
        *err = t->err;
        ok = false;
    }
    lock_release(&all->lock);
    return ok;
}
