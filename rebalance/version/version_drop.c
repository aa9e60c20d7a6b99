#include "config.h"

#include "rebalance/version/version_drop.h"

#include "rebalance/state/parts.h"
#include "rebalance/version/build.h"
#include "rebalance/version/builds.h"
#include "rebalance/version/routes.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define DROPS_MS 60000 /* before a failed deletion is retried */

struct drops {
    struct lock lock; /* LOCK_drops_lock */
    int64_t next_ms;  /* atomic, monotonic: when to delete next */
};

struct drops *drops_new(void)
{
    struct drops *d = mem_alloc(1, sizeof(*d));

    lock_init(&d->lock, LOCK_drops_lock);
    return d;
}

void drops_free(struct drops *d)
{
    if (d != NULL)
        lock_fini(&d->lock);
    free(d);
}

/*
 * Delete the dead letters of a version that nothing writes to any more: a newer one has the
 * rows.
 */
static void forget_letters(struct coordinator *co, struct str alias, uint64_t number)
{
    struct buf name = {0};
    struct err err = {0};
    uint64_t n;

    coordinator_index_name(&name, alias, number);

    const struct dead_letter_filter all = {.index = buf_str(&name)};

    if (!store_delete_dead_letters(co->opt.store, &all, &n, &err))
        log_failure(LOG_WARN, &err, "could not drop the dead letters of a deleted version",
                    KV("index", buf_str(&name)));
    buf_free(&name);
}

void coordinator_forget_other_letters(struct coordinator *co, const struct stored_version *v)
{
    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].index, v->index) && !catalogue_is_live(&c->versions[i]))
            forget_letters(co, v->index, c->versions[i].number);
    catalogue_unref(c);
}

void coordinator_end_promoted(struct coordinator *co, struct str topic)
{
    struct catalogue *c = coordinator_catalogue(co);
    struct err err = {0};

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];

        if (!str_equal(v->state, STR("available")) ||
            (topic.len > 0 && !str_equal(v->topic, topic)))
            continue;
        if (!store_delete_jobs(co->opt.store, v->index, v->number, &err))
            log_failure(LOG_WARN, &err, "could not drop the job of a finished build",
                        KV("index", v->index));
        coordinator_forget_other_letters(co, v);
    }
    catalogue_unref(c);
}

/* The version that searches use, or used last. */
static const struct stored_version *find_searched(const struct catalogue *c, struct str alias)
{
    const struct stored_version *last = catalogue_version(c, alias, STR("available"));

    for (size_t i = 0; last == NULL && i < c->n_versions; i++)
        if (str_equal(c->versions[c->n_versions - 1 - i].index, alias) &&
            c->versions[c->n_versions - 1 - i].finished_ms != 0)
            last = &c->versions[c->n_versions - 1 - i];
    return last;
}

/* Move the alias back if it leads to the dropped version, where its build had moved it. */
static bool restore_alias(struct coordinator *co, struct str alias, struct str from,
                          struct err *err)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_version *to = find_searched(c, alias);
    struct buf index = {0};
    bool leads = false;
    bool ok = to == NULL || search_alias_leads_to(co->opt.search, alias, from, &leads, err);

    if (ok && leads) {
        coordinator_index_name(&index, to->index, to->number);
        ok = search_move_alias(co->opt.search, alias, buf_str(&index), err);
    }
    buf_free(&index);
    catalogue_unref(c);
    return ok;
}

/* Delete in the engine what the store has dropped.  It may be gone there already. */
static bool end_drop(struct coordinator *co, const struct version_name *v, struct err *err)
{
    struct buf name = {0};

    coordinator_index_name(&name, v->index, v->number);

    const bool ok = restore_alias(co, v->index, buf_str(&name), err) &&
                    (search_delete_index(co->opt.search, buf_str(&name), err) ||
                     err_wrap(err, "cannot delete index %s", name.ptr)) &&
                    store_end_dropped(co->opt.store, v->index, v->number, err);

    if (ok) {
        store_watch_read(co->store_watch);
        log_info("deleted the index of a dropped version", KV("index", (const char *)name.ptr));
    }
    buf_free(&name);
    return ok;
}

/* The engine did not answer: the next request would also wait. */
static bool is_silent(const struct err *why)
{
    return why->origin == NULL || strcmp(why->origin, "http") != 0;
}

/*
 * alias empty: all.  err gets the first failure.  After a refusal the others are still tried,
 * but not if the engine did not answer.
 */
static bool end_drops(struct coordinator *co, struct str alias, uint64_t *n, struct err *err)
{
    struct arena *a = arena_new();
    struct version_name *list;
    size_t n_list = 0;
    struct err why = {0};
    bool ok = store_load_dropped(co->opt.store, a, &list, &n_list, err) &&
              (n_list == 0 || coordinator_refresh(co, err));

    *n = 0;
    for (size_t i = 0; ok && i < n_list && !stop_is_set(&co->stop); i++) {
        if ((alias.len > 0 && !str_equal(list[i].index, alias)) ||
            !builds_begin_drop(co->builds, list[i].index))
            continue;

        const bool done = end_drop(co, &list[i], &why);

        builds_end_drop(co->builds);
        *n += done;
        if (done)
            continue;
        if (why.kind == ERR_STOP && alias.len == 0) { /* its topic's owner does it */
            why = (struct err){0};
            continue;
        }
        log_failure(LOG_WARN, &why, "could not delete the index of a dropped version",
                    KV("index", list[i].index), KV("version", list[i].number));
        if (err->kind == ERR_NONE)
            *err = why;
        if (is_silent(&why))
            break;
        why = (struct err){0};
    }
    arena_free(a);
    return ok && err->kind == ERR_NONE;
}

bool coordinator_end_drops_of(struct coordinator *co, struct str alias, uint64_t *n,
                              struct err *err)
{
    lock_acquire(&co->drops->lock);

    const bool ok = end_drops(co, alias, n, err);

    lock_release(&co->drops->lock);
    return ok;
}

void coordinator_end_drops_soon(struct coordinator *co)
{
    __atomic_store_n(&co->drops->next_ms, 0, __ATOMIC_RELEASE);
    stop_nudge(&co->stop);
}

void coordinator_end_drops(struct coordinator *co)
{
    struct err ignored = {0};
    uint64_t n;

    if (clock_mono_ms() < __atomic_load_n(&co->drops->next_ms, __ATOMIC_ACQUIRE))
        return;
    __atomic_store_n(&co->drops->next_ms, clock_mono_ms() + DROPS_MS, __ATOMIC_RELEASE);
    if (!coordinator_end_drops_of(co, STR(""), &n, &ignored))
        log_debug("will try again to delete indexes", KV("why", (const char *)ignored.msg));
}

/* Stop writing to the version, and let the checkpoint pass its changes in delivery. */
static void leave(struct coordinator *co, const struct stored_version *v)
{
    struct buf index = {0};
    struct err ignored = {0};

    coordinator_index_name(&index, v->index, v->number);
    if (catalogue_is_live(v) && !coordinator_route(co, v->topic, ROUTE_AWAY_MS, NULL, &ignored))
        log_failure(LOG_WARN, &ignored, "the topic still writes to a dropped version",
                    KV("index", buf_str(&index)));
    delivery_drop(co->delivery, buf_str(&index));
    buf_free(&index);
}

bool coordinator_drop_versions(struct coordinator *co, const struct stored_version *const *list,
                               size_t n, struct err *err)
{
    struct version_name *names = mem_alloc(n + 1, sizeof(*names));

    for (size_t i = 0; i < n; i++)
        names[i] = (struct version_name){list[i]->index, list[i]->number};

    const bool ok =
        store_drop_versions(co->opt.store, names, n, err) && coordinator_refresh(co, err);

    FAILPOINT(version_forgotten);
    for (size_t i = 0; ok && co->delivery != NULL && i < n; i++)
        leave(co, list[i]);
    free(names);
    return ok;
}

bool coordinator_drop_version(struct coordinator *co, const struct stored_version *v,
                              struct err *err)
{
    const bool ok = coordinator_drop_versions(co, &v, 1, err);

    coordinator_end_drops_soon(co);
    return ok;
}
