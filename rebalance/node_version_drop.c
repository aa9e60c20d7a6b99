#include "config.h"

#include "rebalance/node.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"

#define DROPS_MS 60000 /* what could not be deleted is tried again */

/* The dead letters of a version that nothing is written to any more: a newer one has the rows.
 */
static void forget_letters(struct coordinator *co, struct str alias, uint64_t number)
{
    struct buf name = {0};
    struct err err = {0};
    uint64_t n;

    node_index_name(&name, alias, number);

    const struct dead_letter_filter all = {.index = buf_str(&name)};

    if (!store_delete_dead_letters(co->opt.store, &all, &n, &err))
        log_failure(LOG_WARN, &err, "dead letters of a version that is gone are still stored",
                    KV("index", buf_str(&name)));
    buf_free(&name);
}

void node_forget_older_letters(struct coordinator *co, const struct stored_version *v)
{
    struct catalogue *c = node_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].index, v->index) && c->versions[i].number < v->number)
            forget_letters(co, v->index, c->versions[i].number);
    node_catalogue_free(c);
}

void node_end_promoted(struct coordinator *co)
{
    struct catalogue *c = node_catalogue(co);
    struct err err = {0};

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];

        if (!str_equal(v->state, STR("available")))
            continue;
        if (!store_delete_jobs(co->opt.store, v->index, v->number, &err))
            log_failure(LOG_WARN, &err, "the job of a build that is over is still stored",
                        KV("index", v->index));
        node_forget_older_letters(co, v);
    }
    node_catalogue_free(c);
}

bool node_drop_in_engine(struct coordinator *co, struct str alias, uint64_t number,
                         struct err *err)
{
    struct buf name = {0};

    node_index_name(&name, alias, number);

    const bool ok = search_delete_index(co->opt.search, buf_str(&name), err) ||
                    err_wrap(err, "index %s could not be deleted", name.ptr);

    if (ok)
        forget_letters(co, alias, number);
    buf_free(&name);
    return ok;
}

/* Throw away what delivery has, or gets back, for a concrete index that is gone for good: the
 * checkpoint must not wait for it. */
static void forget_index(struct coordinator *co, struct str index)
{
    delivery_drop(co->delivery, index);
}

/* An alias that was moved by a build that then failed goes back to what searches use. */
static bool restore_alias(struct coordinator *co, struct str alias, struct err *err)
{
    struct catalogue *c = node_catalogue(co);
    const struct stored_version *now = catalogue_version(c, alias, STR("available"));
    struct buf index = {0};
    bool ok = true;

    if (now != NULL) {
        node_index_name(&index, now->index, now->number);
        ok = search_move_alias(co->opt.search, alias, buf_str(&index), err);
    }
    buf_free(&index);
    node_catalogue_free(c);
    return ok;
}

/* What the store has forgotten goes in the engine, which may be done already. */
static bool end_drop(struct coordinator *co, struct str alias, uint64_t number, struct err *err)
{
    return restore_alias(co, alias, err) && node_drop_in_engine(co, alias, number, err) &&
           store_end_dropped(co->opt.store, alias, number, err);
}

void node_end_drops(struct coordinator *co)
{
    struct arena *a = arena_new();
    struct dropped_version *list;
    struct err err = {0};
    size_t n = 0;

    if (clock_mono_ms() < co->drops_ms) {
        arena_free(a);
        return;
    }
    co->drops_ms = clock_mono_ms() + DROPS_MS;
    if (!store_load_dropped(co->opt.store, a, &list, &n, &err) ||
        (n > 0 && !node_refresh(co, &err))) {
        log_failure(LOG_WARN, &err, "it is not known which indexes are to be deleted");
        n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        /* One that is being built moves the alias itself. */
        if (node_find_build(co, list[i].index, 0) != NULL)
            continue;
        if (end_drop(co, list[i].index, list[i].number, &err))
            log_info("the index of a version that is gone is deleted",
                     KV("index", list[i].index), KV("version", list[i].number));
        else
            log_failure(LOG_WARN, &err, "the index of a version that is gone is still there",
                        KV("index", list[i].index), KV("version", list[i].number));
    }
    arena_free(a);
}

bool node_drop_version(struct coordinator *co, const struct stored_version *v, struct err *err)
{
    struct buf index = {0};

    node_index_name(&index, v->index, v->number);

    const bool ok = store_delete_jobs(co->opt.store, v->index, v->number, err) &&
                    store_drop_version(co->opt.store, v->index, v->number, err) &&
                    node_refresh(co, err);
    struct err ignored = {0};

    FAILPOINT(version_forgotten);

    if (ok && co->delivery != NULL) {
        if (!node_route(co, v->topic, ROUTE_AWAY_MS, NULL, &ignored))
            log_failure(LOG_WARN, &ignored, "the topic still writes to a version that is gone",
                        KV("index", buf_str(&index)));
        forget_index(co, buf_str(&index));
    }
    if (ok && !end_drop(co, v->index, v->number, &ignored))
        log_failure(LOG_WARN, &ignored, "it is tried again until it is deleted",
                    KV("index", buf_str(&index)));
    buf_free(&index);
    return ok;
}
