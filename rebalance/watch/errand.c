#include "config.h"

#include "rebalance/watch/errand.h"

#include "rebalance/watch/asking.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS 50

struct errands {
    int64_t wait_ms;

    struct lock lock;
    /* All guarded by lock. */
    struct errand *first; /* started and not freed yet */
    bool is_over;
};

struct errands *errands_new(int64_t wait_ms)
{
    struct errands *all = mem_alloc(1, sizeof(*all));

    all->wait_ms = wait_ms;
    lock_init(&all->lock, LOCK_errands_lock);
    return all;
}

/* ---- one ---- */

/* On its thread: from now on the errand asks `who`, which is copied. */
static void ask(struct errand *e, const char *who)
{
    __atomic_store_n(&e->who, arena_copy(e->arena, str_from(who)).ptr, __ATOMIC_RELEASE);
}

static const char *who_of(const struct errand *e)
{
    return __atomic_load_n(&e->who, __ATOMIC_ACQUIRE);
}

void errand_live(struct errand *e)
{
    __atomic_add_fetch(&e->signs, 1, __ATOMIC_RELAXED);
}

struct errand *errand_new(const char *who, size_t size)
{
    struct errand *e = mem_alloc(1, sizeof(*e));

    e->magic = MAGIC_errand;
    e->arena = arena_new();
    e->asking = asking_new(ERRAND_CONN_S, &e->signs);
    e->ctx = arena_alloc(e->arena, 1, size);
    stop_init(&e->over);
    ask(e, who);
    return e;
}

static void free_errand(struct errand *e)
{
    if (e->all != NULL)
        pthread_join(e->thread, NULL);
    if (e->fini != NULL)
        e->fini(e->ctx);
    asking_free(e->asking);
    stop_fini(&e->over);
    arena_free(e->arena);
    buf_free(&e->text);
    MAGIC_END(errand, e);
    free(e);
}

static void *errand_main(void *arg)
{
    struct errand *e = MAGIC_CAST(errand, arg);

    if (!e->run(e, &e->err) && e->err.kind == ERR_NONE)
        err_set(&e->err, ERR_RETRY, "no answer came");
    stop_set(&e->over);
    return NULL;
}

/* ---- all that began ---- */

/* Free the errands that are over and that nobody waits for. */
static void free_over(struct errands *all)
{
    struct errand *over = NULL;

    lock_acquire(&all->lock);
    for (struct errand **at = &all->first; *at != NULL;) {
        struct errand *e = *at;

        if (!e->is_left || !stop_is_set(&e->over)) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        e->next = over;
        over = e;
    }
    lock_release(&all->lock);
    while (over != NULL) {
        struct errand *e = over;

        over = e->next;
        free_errand(e);
    }
}

/* Find an errand that was left and still hangs at `who`, or NULL. */
static const struct errand *find_left(const struct errands *all, const char *who)
    NEEDS(all->lock)
{
    const struct errand *e = all->first;

    while (e != NULL && !(e->is_left && !stop_is_set(&e->over) && strcmp(who_of(e), who) == 0))
        e = e->next;
    return e;
}

static bool may_begin(const struct errands *all, const struct errand *e, struct err *err)
    NEEDS(all->lock)
{
    const struct errand *left = find_left(all, e->who);

    if (all->is_over)
        return err_set(err, ERR_STOP, "the daemon is stopping");
    if (left == NULL)
        return true;
    return err_set(err, ERR_RETRY, "%s has not answered for %" PRId64 " s", e->who,
                   (clock_mono_ms() - left->lived_ms) / 1000);
}

void errand_send(struct errands *all, struct errand *e, errand_fn run)
{
    free_over(all);
    lock_acquire(&all->lock);
    if (may_begin(all, e, &e->err)) {
        e->all = all;
        e->run = run;
        e->lived_ms = clock_mono_ms();
        e->next = all->first;
        all->first = e;
        e->thread = thread_start("errand", errand_main, e);
    }
    lock_release(&all->lock);
    if (e->all == NULL)
        stop_set(&e->over);
}

void errand_leave(struct errand *e)
{
    struct errands *all = e->all;

    if (all == NULL) {
        free_errand(e);
        return;
    }
    asking_end(e->asking);
    lock_acquire(&all->lock);
    e->is_left = true;
    lock_release(&all->lock);
    free_over(all);
}

void errands_end(struct errands *all)
{
    lock_acquire(&all->lock);
    all->is_over = true;
    for (struct errand *e = all->first; e != NULL; e = e->next)
        asking_end(e->asking);
    lock_release(&all->lock);
}

void errands_free(struct errands *all)
{
    if (all == NULL)
        return;
    errands_end(all);
    while (all->first != NULL) { /* no other thread uses `all` any more */
        struct errand *e = all->first;

        all->first = e->next;
        free_errand(e);
    }
    lock_fini(&all->lock);
    free(all);
}

/* ---- waiting ---- */

static bool is_waited_for(struct errand *e, int64_t now_ms)
{
    const uint64_t signs = __atomic_load_n(&e->signs, __ATOMIC_RELAXED);

    if (stop_is_set(&e->over))
        return false;
    if (signs != e->seen) {
        e->seen = signs;
        e->lived_ms = now_ms;
    }
    return now_ms - e->lived_ms < e->all->wait_ms;
}

static struct errand *find_waited_for(struct errand *const *list, size_t n)
{
    const int64_t now_ms = clock_mono_ms();
    struct errand *found = NULL;

    for (size_t i = 0; i < n; i++)
        if (is_waited_for(list[i], now_ms))
            found = list[i];
    return found;
}

void errand_wait(struct errand *const *list, size_t n)
{
    struct errand *next;

    while ((next = find_waited_for(list, n)) != NULL)
        (void)stop_wait(&next->over, TICK_MS);
}

bool errand_is_done(struct errand *e, struct err *err)
{
    if (!stop_is_set(&e->over))
        return err_set(err, ERR_RETRY, "%s did not answer within %" PRId64 " s", who_of(e),
                       e->all->wait_ms / 1000);
    if (e->err.kind == ERR_NONE)
        return true;
    *err = e->err;
    return false;
}

bool errand_run(struct errands *all, struct errand *e, errand_fn run, struct err *err)
{
    errand_send(all, e, run);
    errand_wait(&e, 1);
    return errand_is_done(e, err);
}
