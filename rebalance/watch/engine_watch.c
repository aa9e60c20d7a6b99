#include "config.h"

#include "rebalance/watch/engine_watch.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/format/json.h"
#include "src/search/asker.h"
#include "src/search/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTED_EVERY 4 /* of the rounds that nobody waits for, how many have counts */

struct counted {
    char *index;
    struct document_count count;
    bool is_wanted; /* seen since drop_unwanted() ran */
    struct counted *next;
};

struct engine_watch {
    enum magic magic;
    struct engine_watch_options opt;
    struct search_asker *asker; /* the thread's own, as is the next */
    unsigned round;             /* of those that nobody waited for */
    pthread_t thread;

    struct lock lock;

    /* All guarded by lock. */
    struct watch watch;
    char health[24];
    struct err refused; /* the engine answered without its health; ERR_NONE: it did not */
    struct counted *counted;
};

struct engine_watch *engine_watch_new(const struct engine_watch_options *opt)
{
    struct engine_watch *w = mem_alloc(1, sizeof(*w));

    w->magic = MAGIC_engine_watch;
    w->opt = *opt;
    w->watch.who = "the search engine";
    lock_init(&w->lock, LOCK_private);
    return w;
}

static void free_counted(struct counted *c)
{
    free(c->index);
    free(c);
}

void engine_watch_free(struct engine_watch *w)
{
    if (w == NULL)
        return;
    while (w->counted != NULL) {
        struct counted *c = w->counted;

        w->counted = c->next;
        free_counted(c);
    }
    search_asker_free(w->asker);
    lock_fini(&w->lock);
    MAGIC_END(engine_watch, w);
    free(w);
}

/* ---- what is known ---- */

static struct counted *find(struct engine_watch *w, struct str index) NEEDS(w->lock)
{
    struct counted *c = w->counted;

    while (c != NULL && !str_equal(str_from(c->index), index))
        c = c->next;
    return c;
}

static struct counted *find_or_add(struct engine_watch *w, struct str index) NEEDS(w->lock)
{
    struct counted *c = find(w, index);

    if (c != NULL)
        return c;
    c = mem_alloc(1, sizeof(*c));
    c->index = strndup(index.ptr, index.len);
    c->next = w->counted;
    w->counted = c;
    return c;
}

static void keep_count(struct engine_watch *w, struct str index, uint64_t n,
                       const struct err *why)
{
    lock_acquire(&w->lock);

    struct counted *c = find_or_add(w, index);

    c->is_wanted = true;
    c->count.why = *why;
    if (why->kind == ERR_NONE)
        c->count = (struct document_count){.n = n, .at_ms = clock_wall_ms()};
    lock_release(&w->lock);
}

/* Drop the counts of indexes that the last round did not see. */
static void drop_unwanted(struct engine_watch *w)
{
    lock_acquire(&w->lock);
    for (struct counted **at = &w->counted; *at != NULL;) {
        struct counted *c = *at;

        if (c->is_wanted) {
            c->is_wanted = false;
            at = &c->next;
            continue;
        }
        *at = c->next;
        free_counted(c);
    }
    lock_release(&w->lock);
}

void engine_watch_want(struct engine_watch *w)
{
    lock_acquire(&w->lock);

    const bool was_wanted = w->watch.is_wanted;

    w->watch.is_wanted = true;
    lock_release(&w->lock);
    if (!was_wanted)
        stop_nudge(w->opt.stop);
}

struct engine_heard engine_watch_heard(struct engine_watch *w)
{
    struct engine_heard h;

    lock_acquire(&w->lock);
    h.is = watch_heard(&w->watch, clock_mono_ms());
    h.is_unreachable = h.is.is_away;
    if (!h.is.is_away && w->refused.kind != ERR_NONE) {
        h.is.is_away = true;
        h.is.why = w->refused;
    }
    memcpy(h.health, w->health, sizeof(h.health));
    lock_release(&w->lock);
    return h;
}

struct document_count engine_watch_count(struct engine_watch *w, struct str index)
{
    struct document_count count = {0};

    lock_acquire(&w->lock);

    const struct counted *c = find(w, index);

    if (c != NULL)
        count = c->count;
    lock_release(&w->lock);
    return count;
}

void engine_watch_count_now(struct engine_watch *w, struct str index)
{
    struct err err = {0};
    uint64_t n;

    if (search_count(w->opt.search, index, &n, &err))
        keep_count(w, index, n, &err);
    engine_watch_want(w);
}

/* ---- the thread ---- */

/* Nobody answered. Any HTTP status counts as an answer. */
static bool is_silence(const struct err *err)
{
    return err->kind != ERR_NONE && (err->origin == NULL || strcmp(err->origin, "http") != 0);
}

static bool ask(struct engine_watch *w, struct str path, struct buf *out, struct err *err)
{
    lock_acquire(&w->lock);
    watch_ask(&w->watch, clock_mono_ms());
    lock_release(&w->lock);

    const bool ok = search_asker_get(w->asker, path, out, err);
    const struct err none = {0};

    if (err->kind == ERR_STOP)
        return false;
    lock_acquire(&w->lock);
    watch_answer(&w->watch, clock_wall_ms(), ok || !is_silence(err) ? &none : err);
    lock_release(&w->lock);
    return ok;
}

static bool ask_health(struct engine_watch *w, struct err *err)
{
    struct buf body = {0}, color = {0};
    const bool is_known = search_engine(w->opt.search).flavor != SEARCH_UNKNOWN;
    bool ok = is_known || (ask(w, STR("/"), &body, err) &&
                           search_identify(w->opt.search, buf_str(&body), err));

    buf_clear(&body);
    ok = ok && ask(w, STR("/_cluster/health"), &body, err) &&
         json_find_text(buf_str(&body), "/status", &color);
    lock_acquire(&w->lock);
    if (ok)
        snprintf(w->health, sizeof(w->health), "%s", color.ptr);
    w->refused = ok || is_silence(err) ? (struct err){0} : *err;
    lock_release(&w->lock);
    buf_free(&body);
    buf_free(&color);
    return ok;
}

/* Returns false if the engine does not answer: then ask for no other count. */
static bool ask_count(struct engine_watch *w, struct str index)
{
    struct buf path = {0}, body = {0};
    struct err err = {0};
    uint64_t n = 0;

    buf_append_char(&path, '/');
    search_append_path(&path, index);
    buf_append(&path, STR("/_count"));

    bool ok = ask(w, buf_str(&path), &body, &err);

    if (ok && !json_find_u64(buf_str(&body), "/count", &n))
        ok = err_set_code(&err, ERR_REJECT, "http", 0,
                          "cannot read the search engine's "
                          "answer to _count");

    const bool answered = ok || !is_silence(&err);

    if (answered)
        keep_count(w, index, n, &err);
    buf_free(&path);
    buf_free(&body);
    return answered;
}

static void count_all(struct engine_watch *w)
{
    struct arena *a = arena_new();
    struct str *names;
    size_t n, i = 0;
    bool all = true;

    w->opt.indexes(w->opt.ctx, a, &names, &n);
    while (all && i < n)
        all = ask_count(w, names[i++]);
    if (all)
        drop_unwanted(w);
    arena_free(a);
}

static void look(struct engine_watch *w, bool is_wanted)
{
    struct err err = {0};

    if (!ask_health(w, &err) && is_silence(&err))
        return;
    if (is_wanted || w->round++ % COUNTED_EVERY == 0)
        count_all(w);
}

/* Begin a round if one is due. Returns in how many ms it is; 0: it began. */
static int64_t begin(struct engine_watch *w, bool *is_wanted)
{
    lock_acquire(&w->lock);

    const int64_t now_ms = clock_mono_ms();
    const int64_t due_in_ms = watch_due_in_ms(&w->watch, now_ms);

    *is_wanted = w->watch.is_wanted;
    if (due_in_ms == 0)
        watch_begin(&w->watch, now_ms);
    lock_release(&w->lock);
    return due_in_ms;
}

static void *engine_watch_main(void *arg)
{
    struct engine_watch *w = MAGIC_CAST(engine_watch, arg);
    int64_t due_in_ms = 0;
    uint64_t seen = 0;
    bool is_wanted;

    while (!stop_rest(w->opt.stop, due_in_ms, &seen)) {
        due_in_ms = begin(w, &is_wanted);
        if (due_in_ms > 0)
            continue;
        look(w, is_wanted);
        lock_acquire(&w->lock);
        watch_end(&w->watch, clock_mono_ms());
        lock_release(&w->lock);
    }
    return NULL;
}

void engine_watch_start(struct engine_watch *w)
{
    w->asker = search_asker_new(w->opt.search, w->opt.stop);
    w->thread = thread_start("engine", engine_watch_main, w);
}

void engine_watch_join(struct engine_watch *w)
{
    pthread_join(w->thread, NULL);
}
