#include "config.h"

#include "rebalance/fill/fills.h"

#include "rebalance/fill/index_fill.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_MS    1000
#define STALLED_MS 120000
#define AVOID_MS   60000

struct fill_entry {
    struct index_fill *fill;
    bool over;
    uint64_t progress; /* as it was at since_ms, of clock_mono_ms() */
    int64_t since_ms;
    struct fill_entry *next;
};

/* A version that this node leaves to others for a while. */
struct avoided {
    char *alias;
    uint64_t number;
    int64_t until_ms; /* monotonic */
    struct avoided *next;
};

struct fills {
    struct lock lock;

    /* All guarded by lock. */
    struct fill_entry *first;
    struct avoided *avoided;
    int64_t due_ms; /* monotonic */
    bool has_run;
};

struct fills *fills_new(void)
{
    struct fills *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_fills_lock);
    return all;
}

void fills_free(struct fills *all)
{
    if (all == NULL)
        return;
    while (all->avoided != NULL) {
        struct avoided *a = all->avoided;

        all->avoided = a->next;
        free(a->alias);
        free(a);
    }
    lock_fini(&all->lock);
    free(all);
}

void fills_add(struct fills *all, struct index_fill *f)
{
    struct fill_entry *e = mem_alloc(1, sizeof(*e));

    e->fill = f;
    e->since_ms = clock_mono_ms();
    lock_acquire(&all->lock);
    e->next = all->first;
    all->first = e;
    lock_release(&all->lock);
}

bool fills_has(struct fills *all, uint64_t job)
{
    bool has = false;

    lock_acquire(&all->lock);
    for (const struct fill_entry *e = all->first; e != NULL; e = e->next)
        has = has || index_fill_job(e->fill) == job;
    lock_release(&all->lock);
    return has;
}

size_t fills_n(struct fills *all, struct str alias, uint64_t number)
{
    size_t n = 0;

    lock_acquire(&all->lock);
    for (const struct fill_entry *e = all->first; e != NULL; e = e->next)
        n += alias.len == 0 || (str_equal(str_from(index_fill_alias(e->fill)), alias) &&
                                index_fill_number(e->fill) == number);
    lock_release(&all->lock);
    return n;
}

void fills_each(struct fills *all, void (*call)(void *ctx, struct index_fill *f), void *ctx)
{
    lock_acquire(&all->lock);
    for (const struct fill_entry *e = all->first; e != NULL; e = e->next)
        call(ctx, e->fill);
    lock_release(&all->lock);
}

/* Unlink the entries that match, or are over. */
static struct fill_entry *take(struct fills *all,
                               bool (*match)(void *ctx, const struct index_fill *f), void *ctx)
{
    struct fill_entry *taken = NULL;

    lock_acquire(&all->lock);
    for (struct fill_entry **at = &all->first; *at != NULL;) {
        struct fill_entry *e = *at;

        if (match == NULL ? !e->over : !match(ctx, e->fill)) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        e->next = taken;
        taken = e;
    }
    lock_release(&all->lock);
    return taken;
}

/* Joins their threads without the lock: they may still note their end. */
static size_t end_all(struct fill_entry *list)
{
    size_t n = 0;

    for (const struct fill_entry *e = list; e != NULL; e = e->next)
        index_fill_ask_to_stop(e->fill);
    while (list != NULL) {
        struct fill_entry *e = list;

        list = e->next;
        index_fill_stop(e->fill);
        index_fill_free(e->fill);
        free(e);
        n++;
    }
    return n;
}

void fills_remove(struct fills *all, bool (*match)(void *ctx, const struct index_fill *f),
                  void *ctx)
{
    end_all(take(all, match, ctx));
}

/* ---- versions that are left to others ---- */

static void avoid_version(struct fills *all, struct str alias, uint64_t number) NEEDS(all->lock)
{
    struct avoided *a = mem_alloc(1, sizeof(*a));

    *a = (struct avoided){strndup(alias.ptr, alias.len), number, clock_mono_ms() + AVOID_MS,
                          all->avoided};
    all->avoided = a;
}

static void avoid(struct fills *all, const struct index_fill *f) NEEDS(all->lock)
{
    avoid_version(all, str_from(index_fill_alias(f)), index_fill_number(f));
}

void fills_avoid(struct fills *all, struct str alias, uint64_t number)
{
    lock_acquire(&all->lock);
    avoid_version(all, alias, number);
    lock_release(&all->lock);
}

bool fills_avoids(struct fills *all, struct str alias, uint64_t number)
{
    bool is = false;

    lock_acquire(&all->lock);
    for (struct avoided **at = &all->avoided; *at != NULL;) {
        struct avoided *a = *at;

        if (a->until_ms <= clock_mono_ms()) {
            *at = a->next;
            free(a->alias);
            free(a);
            continue;
        }
        is = is || (str_equal(str_from(a->alias), alias) && a->number == number);
        at = &a->next;
    }
    lock_release(&all->lock);
    return is;
}

static bool has_stalled(struct fill_entry *e)
{
    const uint64_t progress = index_fill_progress(e->fill);
    const int64_t now = clock_mono_ms();

    if (progress != e->progress || index_fill_pipeline(e->fill) != NULL) {
        e->progress = progress;
        e->since_ms = now;
    }
    return now - e->since_ms >= STALLED_MS;
}

void fills_remove_stalled(struct fills *all)
{
    lock_acquire(&all->lock);
    for (struct fill_entry *e = all->first; e != NULL; e = e->next)
        if (!e->over && has_stalled(e)) {
            log_warn("a bucket is given back, as nothing of it was written here for long",
                     KV("index", index_fill_alias(e->fill)),
                     KV("version", index_fill_number(e->fill)));
            avoid(all, e->fill);
            e->over = true;
        }
    lock_release(&all->lock);
    fills_reap(all);
}

/* ---- ends ---- */

void fills_note_end(struct fills *all, const struct index_fill *f)
{
    lock_acquire(&all->lock);
    if (index_fill_gave_up(f))
        avoid(all, f);
    for (struct fill_entry *e = all->first; e != NULL; e = e->next)
        e->over = e->over || e->fill == f;
    all->due_ms = 0;
    lock_release(&all->lock);
}

size_t fills_reap(struct fills *all)
{
    return end_all(take(all, NULL, NULL));
}

void fills_look_again(struct fills *all)
{
    lock_acquire(&all->lock);
    all->due_ms = 0;
    lock_release(&all->lock);
}

bool fills_is_due(struct fills *all)
{
    lock_acquire(&all->lock);

    const int64_t now = clock_mono_ms();
    const bool due = now >= all->due_ms;

    if (due)
        all->due_ms = now + LOOK_MS;
    lock_release(&all->lock);
    return due;
}

void fills_note_run(struct fills *all, bool is_there)
{
    lock_acquire(&all->lock);
    all->has_run = is_there;
    lock_release(&all->lock);
}

bool fills_have_run(struct fills *all)
{
    lock_acquire(&all->lock);

    const bool has = all->has_run;

    lock_release(&all->lock);
    return has;
}
