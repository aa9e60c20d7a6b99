#include "config.h"

#include "rebalance/build/build.h"

#include "rebalance/build/page_wait.h"
#include "rebalance/fill/targets.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/search/search.h"
#include "src/store/later/kept_search.h"
#include "sync/checkpoint/read_position.h"
#include "sync/checkpoint/ticket.h"
#include "sync/delivery/delivery.h"
#include "sync/pipeline/pipeline.h"
#include "sync/related/cascade/find.h"
#include "sync/routing/routing.h"

#define AT_ONCE 20 /* searches loaded at a time */

static struct ticket *page_ticket(void *ctx)
{
    return ticket_ref(ctx);
}

/* Have the documents found read again by reads that include all that was read of the log. */
static bool find(struct index_build *b, const struct kept_search *k, struct ticket *ticket,
                 struct err *err)
{
    struct target *t = version_target(b->opt.pipeline, b->index, k->member, err);
    struct routing *routing = pipeline_routing(b->opt.pipeline);
    bool ok = t != NULL;

    if (ok) {
        const struct cascade_find f = {
            .search = b->opt.search,
            .delivery = b->opt.delivery,
            .stop = &b->stop,
            .routing = routing,
            .target = t,
            .down = k->down,
            .at_least = read_position_version(pipeline_read_position(b->opt.pipeline)) + 1,
            .ctx = ticket,
            .ticket = page_ticket};

        ok = cascade_find_all(&f, k->query, err);
    }
    routing_unref(routing);
    target_unref(t);
    return ok;
}

static bool repeat(struct index_build *b, const struct kept_search *k, struct err *err)
{
    struct ticket *ticket;
    struct page_wait *wait = page_wait_new(&ticket);
    bool ok = find(b, k, ticket, err);

    if (ok)
        ticket_done(ticket, OUTCOME_DELIVERED);
    else
        ticket_abandon(ticket);
    ok = ok && page_wait_end(wait, &b->stop, err);
    page_wait_free(wait);
    return ok;
}

/*
 * A node that was killed may have left requests that the engine carries out later: none of them
 * lives longer than this.  Clocks of nodes may differ.
 */
static bool wait_for_late_writes(struct index_build *b, struct err *err)
{
    const int64_t life_ms =
        DELIVERY_COPY_TIMEOUTS * (int64_t)delivery_get(b->opt.delivery).request_timeout_ms;
    const int64_t left_ms = b->lost_ms + life_ms - clock_wall_ms();
    const int64_t until = clock_mono_ms() + (left_ms < life_ms ? left_ms : life_ms);

    while (b->lost_ms != 0 && clock_mono_ms() < until)
        if (!build_wait(b, err))
            return false;
    return true;
}

/* The next searches behind *after. *n is 0 at the end. */
static bool repeat_some(struct index_build *b, uint64_t *after, size_t *n, struct err *err)
{
    const struct version_name v = {str_from(b->alias), b->opt.number};
    struct arena *a = arena_new();
    struct kept_search *list;
    bool ok = store_load_searches(b->opt.store, a, &v, *after, AT_ONCE, &list, n, err);

    if (ok && *n > 0 && *after == 0)
        ok = wait_for_late_writes(b, err) &&
             search_refresh(b->opt.search, str_from(b->index), err);
    for (size_t i = 0; ok && i < *n; i++)
        ok = repeat(b, &list[i], err);
    if (ok && *n > 0)
        *after = list[*n - 1].id;
    arena_free(a);
    return ok;
}

/*
 * All rows are written.  A search that is kept from now on sees all of them by itself, as the
 * index is refreshed after it is stored.
 */
bool build_repeat_searches(struct index_build *b, struct err *err)
{
    uint64_t after = 0;
    size_t n;

    FAILPOINT(searches_due);
    do
        if (!repeat_some(b, &after, &n, err))
            return false;
    while (n > 0);
    return true;
}
