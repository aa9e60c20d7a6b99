#include "config.h"

#include "rebalance/version/builds.h"

#include "src/base/lock.h"
#include "src/base/mem.h"

#include <stdlib.h>

struct builds {
    struct lock lock;

    /* All guarded by lock. */
    struct index_build *running[BUILDS_MAX];
    size_t n_running;
    struct finished_build finished[BUILDS_MAX]; /* still among the running */
    size_t n_finished;
    struct str dropped; /* alias whose index is being deleted; empty: none */
};

struct builds *builds_new(void)
{
    struct builds *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_builds_lock);
    return all;
}

void builds_free(struct builds *all)
{
    if (all == NULL)
        return;
    lock_fini(&all->lock);
    free(all);
}

static struct index_build *find(struct builds *all, struct str alias, uint64_t number)
    NEEDS(all->lock)
{
    for (size_t i = 0; i < all->n_running; i++)
        if (str_equal(str_from(index_build_alias(all->running[i])), alias) &&
            (number == 0 || index_build_number(all->running[i]) == number))
            return all->running[i];
    return NULL;
}

struct index_build *builds_find(struct builds *all, struct str alias, uint64_t number)
{
    lock_acquire(&all->lock);

    struct index_build *b = find(all, alias, number);

    lock_release(&all->lock);
    return b;
}

void builds_add(struct builds *all, struct index_build *b)
{
    lock_acquire(&all->lock);
    all->running[all->n_running++] = b;
    lock_release(&all->lock);
}

void builds_remove(struct builds *all, struct index_build *b)
{
    size_t n = 0;

    index_build_stop(b); /* it may still note its end */
    lock_acquire(&all->lock);
    for (size_t i = 0; i < all->n_running; i++)
        if (all->running[i] != b)
            all->running[n++] = all->running[i];
    all->n_running = n;
    n = 0;
    for (size_t i = 0; i < all->n_finished; i++)
        if (all->finished[i].build != b)
            all->finished[n++] = all->finished[i];
    all->n_finished = n;
    lock_release(&all->lock);
    index_build_free(b);
}

size_t builds_list(struct builds *all, struct index_build *list[BUILDS_MAX])
{
    lock_acquire(&all->lock);

    const size_t n = all->n_running;

    for (size_t i = 0; i < n; i++)
        list[i] = all->running[i];
    lock_release(&all->lock);
    return n;
}

size_t builds_n(struct builds *all)
{
    lock_acquire(&all->lock);

    const size_t n = all->n_running;

    lock_release(&all->lock);
    return n;
}

void builds_each(struct builds *all, void (*call)(void *ctx, struct index_build *b), void *ctx)
{
    lock_acquire(&all->lock);
    for (size_t i = 0; i < all->n_running; i++)
        call(ctx, all->running[i]);
    lock_release(&all->lock);
}

bool builds_status(struct builds *all, struct str alias, uint64_t number,
                   struct index_build_status *out)
{
    lock_acquire(&all->lock);

    struct index_build *b = find(all, alias, number);

    if (b != NULL)
        *out = index_build_status(b);
    lock_release(&all->lock);
    return b != NULL;
}

bool builds_set(struct builds *all, struct str alias, const struct job_change *c)
{
    lock_acquire(&all->lock);

    struct index_build *b = find(all, alias, 0);

    if (b != NULL)
        index_build_set(b, c);
    lock_release(&all->lock);
    return b != NULL;
}

void builds_nudge(struct builds *all, struct str alias, uint64_t number)
{
    lock_acquire(&all->lock);

    struct index_build *b = find(all, alias, number);

    if (b != NULL)
        index_build_nudge(b);
    lock_release(&all->lock);
}

/* ---- ends ---- */

void builds_note_end(struct builds *all, struct index_build *b, const struct err *why)
{
    lock_acquire(&all->lock);
    all->finished[all->n_finished++] =
        (struct finished_build){b, why != NULL ? *why : (struct err){0}};
    lock_release(&all->lock);
}

bool builds_is_over(struct builds *all, const struct index_build *b)
{
    bool over = false;

    lock_acquire(&all->lock);
    for (size_t i = 0; i < all->n_finished; i++)
        over = over || all->finished[i].build == b;
    lock_release(&all->lock);
    return over;
}

size_t builds_finished(struct builds *all, struct finished_build list[BUILDS_MAX])
{
    lock_acquire(&all->lock);

    const size_t n = all->n_finished;

    for (size_t i = 0; i < n; i++)
        list[i] = all->finished[i];
    lock_release(&all->lock);
    return n;
}

/* ---- deletion ---- */

bool builds_begin_drop(struct builds *all, struct str alias)
{
    lock_acquire(&all->lock);

    const bool may = find(all, alias, 0) == NULL;

    if (may)
        all->dropped = alias;
    lock_release(&all->lock);
    return may;
}

void builds_end_drop(struct builds *all)
{
    lock_acquire(&all->lock);
    all->dropped = STR("");
    lock_release(&all->lock);
}

bool builds_is_dropping(struct builds *all, struct str alias)
{
    lock_acquire(&all->lock);

    const bool is = str_equal(all->dropped, alias);

    lock_release(&all->lock);
    return is;
}
