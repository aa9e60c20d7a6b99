#include "config.h"

#include "rebalance/fill/fills.h"
#include "rebalance/version/builds.h"
#include "rebalance/version/held.h"

#include "rebalance/state/owned.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/table_stop.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "sync/routing/routing.h"

#include <stdlib.h>
#include <string.h>

#define HELD_MS     30000 /* a held index may fill half of the queue for so long */
#define REPLACED_MS 2000  /* a held index may delay its next version for so long */

/* Count the index versions that this node writes to. */
static size_t count_live(struct coordinator *co)
{
    struct catalogue *c = coordinator_catalogue(co);
    size_t n = 0;

    for (size_t i = 0; i < c->n_versions; i++)
        n += catalogue_is_live(&c->versions[i]) && coordinator_owns(co, c->versions[i].topic);
    catalogue_unref(c);
    return n;
}

static bool is_ours(struct coordinator *co, const struct hold *h)
{
    struct str alias;
    uint64_t number;

    return !coordinator_split_index_name(h->index.ptr, &alias, &number) ||
           coordinator_owns_version(co, alias, number);
}

static bool is_paused(const struct hold *h)
{
    return h->is.why.origin != NULL && strcmp(h->is.why.origin, DELIVERY_PAUSED) == 0;
}

/* We fill a part of another node's version. */
static bool is_filled_here(struct coordinator *co, const struct hold *h)
{
    struct str alias;
    uint64_t number;

    return coordinator_split_index_name(h->index.ptr, &alias, &number) &&
           fills_n(co->fills, alias, number) > 0;
}

/* A topic that another node took leaves holds behind.  A pause counts at every node. */
static size_t keep_ours(struct coordinator *co, struct hold *list, size_t n)
{
    size_t n_ours = 0;

    for (size_t i = 0; i < n; i++)
        if (is_ours(co, &list[i]))
            list[n_ours++] = list[i];
        else if (!is_paused(&list[i]) && !is_filled_here(co, &list[i]))
            delivery_end_hold(co->delivery, list[i].index);
    return n_ours;
}

bool coordinator_has_held(struct coordinator *co)
{
    struct arena *a = arena_new();
    struct hold *list;
    const size_t n = holds_all(co->holds, a, &list);
    bool has = false;

    for (size_t i = 0; i < n; i++)
        has = has || is_ours(co, &list[i]);
    arena_free(a);
    return has;
}

static void stop(struct coordinator *co, const struct hold *h)
{
    struct target *t = NULL;
    struct err err = {0};

    for (struct topic *topic = co->topics->first; topic != NULL && t == NULL;
         topic = topic->next)
        if (topic->pipeline != NULL)
            t = pipeline_target(topic->pipeline, h->index, STR(""));
    if (t == NULL)
        return;
    /* Store the stop first: deferred changes let the checkpoint pass. */
    if (!__atomic_load_n(&((struct reading *)t->plan)->stopped, __ATOMIC_RELAXED)) {
        struct buf fix = {0}, lead = {0}, rebuild = {0};

        coordinator_lead_name(co, t, &lead);
        buf_append(&rebuild, STR("millrace index create "));
        buf_append_word(&rebuild, buf_str(&lead));
        hold_append_stop_fix(&fix, h->is.cure, rebuild.ptr);
        if (coordinator_stop_target(co, t, &(struct table_stop){h->is.why.msg, fix.ptr, false},
                                    &err)) {
            __atomic_store_n(&((struct reading *)t->plan)->stopped, true, __ATOMIC_RELAXED);
            delivery_drop(co->delivery, h->index);
            if (!coordinator_route(co, str_from(t->topic), 0, NULL, &err))
                log_debug("the builder will see the stop soon");
        }
        buf_free(&rebuild);
        buf_free(&lead);
        buf_free(&fix);
    }
    target_unref(t);
}

/* All rows are written; the build waits for the changes made meanwhile. */
static bool is_finishing(struct index_build *b)
{
    return strcmp(index_build_status(b).phase, "finishing") == 0;
}

static void note_finishing(void *ctx, struct index_build *b)
{
    bool *any = ctx;

    *any = *any || is_finishing(b);
}

static bool any_is_finishing(const struct coordinator *co)
{
    bool any = false;

    builds_each(co->builds, note_finishing, &any);
    return any;
}

/* The running build of the index's alias, and the index's number; NULL if there is none. */
static struct index_build *build_beside(const struct coordinator *co, struct str index,
                                        uint64_t *number)
{
    struct str alias;

    return coordinator_split_index_name(index.ptr, &alias, number)
               ? builds_find(co->builds, alias, 0)
               : NULL;
}

/* Whether its next version waits only for changes that this index does not accept. */
static bool is_replaced(const struct coordinator *co, struct str index)
{
    uint64_t number;
    struct index_build *b = build_beside(co, index, &number);

    return b != NULL && is_finishing(b) && number < index_build_number(b);
}

/* Writes of a build cannot be purged. */
static bool is_being_built(const struct coordinator *co, struct str index)
{
    uint64_t number;
    struct index_build *b = build_beside(co, index, &number);

    return b != NULL && number == index_build_number(b);
}

/* Whether the refusal concerns only this index or its documents, not the whole engine. */
static bool is_its_own(const struct err *why)
{
    if (why->origin == NULL)
        return true;
    if (strcmp(why->origin, "item") == 0)
        return why->code == 400 || why->code == 404 || why->code == 413;
    return strcmp(why->origin, "http") == 0 && why->code == 400;
}

/* Whether cascades of foreign keys wait until this index is written. */
static bool is_waited_for(const struct coordinator *co, struct str index)
{
    for (const struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline != NULL && pipeline_cascades_wait_for(t->pipeline, index))
            return true;
    return false;
}

/*
 * A held index must not stop the others.  Stop its table if it fills the queue and its changes
 * cannot be purged, or if a build or foreign keys wait for it; a rebuild corrects it later.
 * Trouble that may concern the whole engine (log-in, full disks, no answer) is waited out,
 * unless other indexes were written meanwhile.
 */
static bool is_in_the_way(struct coordinator *co, const struct hold *h,
                          const struct delivery_status *s, size_t n_held, size_t n_live)
{
    const struct delivery_settings settings = delivery_get(co->delivery);
    const bool is_full = co->queue.full_since_ms != 0 ||
                         (co->queue.blocked_since_ms != 0 &&
                          clock_mono_ms() - co->queue.blocked_since_ms > HELD_MS);
    const bool fills = is_full && (settings.purge == PURGE_OFF || is_being_built(co, h->index));
    const int64_t held_ms = clock_mono_ms() - h->is.since_ms;

    if (held_ms > REPLACED_MS && is_replaced(co, h->index))
        return true;
    return (fills || any_is_finishing(co) || is_waited_for(co, h->index)) &&
           held_ms > HELD_MS && n_held < n_live &&
           (is_its_own(&h->is.why) || s->good_ms > h->is.since_ms);
}

void coordinator_stop_held(struct coordinator *co)
{
    struct arena *a = arena_new();
    struct hold *list;
    const size_t n_all = holds_all(co->holds, a, &list);
    const size_t n_held = keep_ours(co, list, n_all);

    if (n_held > 0) {
        const struct delivery_status s = delivery_status(co->delivery);
        const size_t n_live = count_live(co);
        size_t i = 0;

        while (i < n_held && !is_in_the_way(co, &list[i], &s, n_held, n_live))
            i++;
        if (i < n_held)
            stop(co, &list[i]);
    }
    arena_free(a);
}
