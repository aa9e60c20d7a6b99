#include "config.h"

#include "rebalance/admin/delivery.h"
#include "rebalance/admin/delivery_set.h"
#include "rebalance/dead_letter/letters.h"
#include "rebalance/dead_letter/purged.h"
#include "rebalance/fill/fills.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/trees.h"

#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void on_load(void *ctx, struct load_batch *batch)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    lock_acquire(&co->topics->lock);

    struct topic *t = topics_find(co->topics, str_from(batch->target->topic));
    struct pipeline *p = t == NULL ? NULL : t->pipeline;

    if (p != NULL)
        pipeline_load(p, batch);
    lock_release(&co->topics->lock);
    if (p != NULL)
        return;
    for (size_t i = 0; i < batch->n_items; i++) {
        batch->items[i].failed = true;
        err_set(&batch->items[i].err, ERR_RETRY, "topic %s is not running",
                batch->target->topic);
    }
    delivery_loaded(co->delivery, batch);
}

static void on_gone(void *ctx, const struct gone_row *row)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    lock_acquire(&co->topics->lock);

    struct topic *t = topics_find(co->topics, str_from(row->target->topic));
    struct pipeline *p = t == NULL ? NULL : t->pipeline;

    if (p != NULL)
        pipeline_gone(p, row);
    lock_release(&co->topics->lock);
    for (size_t i = 0; p == NULL && i < row->n_tickets; i++)
        ticket_release_abandoned(row->tickets[i]);
}

static bool has_room(struct coordinator *co, struct err *err)
{
    uint64_t n;

    if (!store_n_dead_letters(co->opt.store, STR(""), &n, err))
        return false;
    return n < co->opt.dead_letters_max ||
           err_set(err, ERR_REJECT,
                   "%" PRIu64 " dead letters are stored, and the store takes no more "
                   "(dead_letters.max); fix: see millrace dead-letter list, then replay or "
                   "discard them",
                   n);
}

/* Whether all of them replace earlier letters. */
static bool are_again(const struct dead_letter_note *notes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!notes[i].again)
            return false;
    return true;
}

/* Of a topic that we own, or of a version that we fill a part of. */
static bool is_ours(struct coordinator *co, const struct target *t)
{
    struct str alias;
    uint64_t number;

    return coordinator_owns(co, str_from(t->topic)) ||
           (coordinator_split_index_name(t->index, &alias, &number) &&
            fills_n(co->fills, alias, number) > 0);
}

/*
 * Letters of a topic that another node has taken are left out, and must not keep those of
 * others waiting: no position passes their changes, so the other node reads these again. So it
 * is with a bucket: no cursor of a fill that has ended passes its rows.
 */
static bool put_dead_letters(void *ctx, const struct dead_letter_note *notes, size_t n,
                             struct err *err)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct dead_letter_note *ours = mem_alloc(n, sizeof(*ours));
    size_t n_ours = 0;

    for (size_t i = 0; i < n; i++)
        if (is_ours(co, notes[i].target))
            ours[n_ours++] = notes[i];

    const bool ok = n_ours == 0 || ((are_again(ours, n_ours) || has_room(co, err)) &&
                                    coordinator_keep_dead_letters(co, ours, n_ours, err));

    free(ours);
    return ok;
}

static bool on_cleared(void *ctx, const struct target *target, struct str routing,
                       struct str id, uint64_t version, struct err *err)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    FAILPOINT(letter_outlived);
    store_watch_want(co->store_watch);
    if (!coordinator_owns(co, str_from(target->topic)))
        return true; /* it is the other node's now */
    return store_delete_dead_letter_of(co->opt.store, str_from(target->index), routing, id,
                                       version, err);
}

static uint64_t on_stamp_max(void *ctx, const struct target *target)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    uint64_t max =
        UINT64_MAX; /* between two pipelines: store nothing, all changes come again */

    lock_acquire(&co->topics->lock);

    const struct topic *t = topics_find(co->topics, str_from(target->topic));

    if (t != NULL && t->pipeline != NULL)
        max = pipeline_stamp_max(t->pipeline);
    lock_release(&co->topics->lock);
    return max;
}

static uint64_t on_area_floor(void *ctx, const struct target *target)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    uint64_t floor = UINT64_MAX;

    lock_acquire(&co->topics->lock);

    const struct topic *t = topics_find(co->topics, str_from(target->topic));

    if (t != NULL && t->pipeline != NULL)
        floor = pipeline_area_floor(t->pipeline);
    lock_release(&co->topics->lock);
    return floor;
}

static void on_held(void *ctx, const struct target *target, const struct delivery_hold *hold)
{
    const struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    holds_note(co->holds, target->index, hold);
}

static void log_held(const char *index, const struct err *why)
{
    if (strcmp(why->origin != NULL ? why->origin : "", DELIVERY_PAUSED) == 0)
        log_info("index paused", KV("index", index), KV("why", why->msg));
    else
        log_failure(LOG_ERROR, why, "index held", KV("index", index));
}

static void log_event(enum delivery_event what, const char *index, uint64_t n,
                      const struct err *why)
{
    switch (what) {
    case DELIVERY_BLOWN:
        log_failure(LOG_ERROR, why, "fuse blown: sending nothing to the index for a while",
                    KV("index", index));
        return;
    case DELIVERY_HEALED: log_info("fuse healed", KV("index", index)); return;
    case DELIVERY_PURGED:
        log_warn("changes purged; their rows will be read again later", KV("index", index),
                 KV("changes", n));
        return;
    case DELIVERY_DRAINED:
        if (why == NULL)
            log_info("drained", KV("ms", n));
        else
            log_failure(LOG_WARN, why, "not drained", KV("ms", n));
        return;
    case DELIVERY_HELD: log_held(index, why); return;
    case DELIVERY_RELEASED: log_info("index resumes", KV("index", index)); return;
    case N_DELIVERY_EVENTS: return;
    }
}

static void on_event(void *ctx, enum delivery_event what, const struct target *target,
                     uint64_t n, const struct err *why)
{
    static const char *const names[N_DELIVERY_EVENTS] = {
        [DELIVERY_BLOWN] = "blown",   [DELIVERY_HEALED] = "healed",
        [DELIVERY_PURGED] = "purged", [DELIVERY_DRAINED] = "drained",
        [DELIVERY_HELD] = "held",     [DELIVERY_RELEASED] = "released",
    };
    const char *index = target == NULL ? "" : target->index;
    const char *table = target == NULL ? "" : target->table;

    log_event(what, index, n, why);
    coordinator_log(MAGIC_CAST(coordinator, ctx), str_from(table), str_from(index), 0,
                    names[what], why == NULL ? "" : why->msg);
}

struct delivery_options coordinator_delivery_options(struct coordinator *co)
{
    struct delivery_options o = {
        .settings = coordinator_configured_delivery(co),
        .compress = co->opt.compress,
        .ctx = co,
        .load = on_load,
        .gone = on_gone,
        .dead = put_dead_letters,
        .cleared = on_cleared,
        .stamp_max = on_stamp_max,
        .area_floor = on_area_floor,
        .held = on_held,
        .event = on_event,
        .purged = coordinator_put_purged,
    };

    coordinator_feed_trees(co, &o);
    return o;
}
