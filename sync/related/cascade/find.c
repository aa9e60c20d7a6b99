#include "config.h"

#include "sync/related/cascade/find.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/search/pages.h"
#include "sync/checkpoint/ticket.h"
#include "sync/delivery/delivery.h"
#include "sync/document/lookup.h"
#include "sync/routing/routing.h"

#include <stdlib.h>
#include <string.h>

#define PAGE  LOOKUP_MAX /* documents per answer */
#define SLICE 250        /* documents submitted at a time */

/* Documents of one answer, with their keys. */
struct found_page {
    struct arena *arena;
    struct search_hit *hits;
    struct str *keys;
    size_t n;
};

static const struct plan *plan_of(const struct target *t)
{
    return ((const struct reading *)t->plan)->plan;
}

static bool submit_slice(const struct cascade_find *l, const struct found_page *page,
                         size_t from, size_t n, struct ticket *ticket, struct err *err)
{
    struct doc_write writes[SLICE];

    for (size_t i = 0; i < n; i++)
        writes[i] = (struct doc_write){.target = target_ref(l->target),
                                       .ticket = ticket_ref(ticket),
                                       .op = DOC_REFRESH,
                                       .version = l->at_least,
                                       .id = page->hits[from + i].id,
                                       .routing = page->hits[from + i].routing,
                                       .key = page->keys[from + i],
                                       .commit_ms = l->commit_ms};
    if (delivery_submit_until(l->delivery, l->stop, writes, n, err))
        return true;
    for (size_t i = 0; i < n; i++) {
        ticket_abandon(writes[i].ticket);
        target_unref(writes[i].target);
    }
    return false;
}

static struct found_page wanted_of(const struct cascade_find *l, const struct found_page *page)
{
    struct found_page out = {.hits = arena_alloc(page->arena, page->n, sizeof(*out.hits)),
                             .keys = arena_alloc(page->arena, page->n, sizeof(*out.keys))};

    for (size_t i = 0; i < page->n; i++) {
        const struct cascade_found f = {.target = l->target,
                                        .id = page->hits[i].id,
                                        .routing = page->hits[i].routing,
                                        .key = page->keys[i],
                                        .version = page->hits[i].version};

        if (l->is_to_be_read != NULL && !l->is_to_be_read(l->ctx, &f))
            continue;
        out.hits[out.n] = page->hits[i];
        out.keys[out.n++] = page->keys[i];
    }
    return out;
}

static bool submit_page(const struct cascade_find *l, const struct found_page *all,
                        struct err *err)
{
    const struct found_page wanted = wanted_of(l, all), *page = &wanted;
    struct ticket *ticket = l->ticket(l->ctx);
    bool ok = true;

    for (size_t i = 0; ok && i < page->n; i += SLICE)
        ok = submit_slice(l, page, i, page->n - i < SLICE ? page->n - i : SLICE, ticket, err);
    if (ok)
        ticket_done(ticket, OUTCOME_DELIVERED);
    else
        ticket_abandon(ticket);
    return ok;
}

/* Skip an _id that is no key: another table of the index has it, or we did not write it. */
static void read_keys(const struct cascade_find *l, struct found_page *page,
                      const struct search_hit *hits, size_t n)
{
    struct buf key = {0};

    page->hits = arena_alloc(page->arena, n, sizeof(*page->hits));
    page->keys = arena_alloc(page->arena, n, sizeof(*page->keys));
    for (size_t i = 0; i < n; i++) {
        struct err ignored = {0};

        buf_clear(&key);
        if (!plan_key_of_id(plan_of(l->target), hits[i].id, &key, &ignored))
            continue;
        page->hits[page->n] = hits[i];
        page->keys[page->n++] = arena_copy(page->arena, buf_str(&key));
    }
    buf_free(&key);
}

static bool search_below(const struct cascade_find *l, const struct found_page *page,
                         struct err *err);

static bool take_page(const struct cascade_find *l, const struct search_hit *hits, size_t n,
                      struct err *err)
{
    struct found_page page = {.arena = arena_new()};
    bool ok = true;

    read_keys(l, &page, hits, n);
    if (page.n > 0)
        ok = submit_page(l, &page, err) && (!l->down || search_below(l, &page, err));
    arena_free(page.arena);
    return ok;
}

bool cascade_find_all(const struct cascade_find *l, struct str query, struct err *err)
{
    struct search_pages pages = {0};
    struct arena *a = arena_new();
    struct search_hit *hits;
    size_t n;
    bool ok = search_pages_open(&pages, l->search, str_from(l->target->index), query, PAGE,
                                SEARCH_WHOLE, a, &hits, &n, err);

    while (ok && n > 0) {
        ok = take_page(l, hits, n, err);
        arena_reset(a);
        ok = ok && search_pages_next(&pages, a, &hits, &n, err);
    }
    search_pages_close(&pages);
    arena_free(a);
    return ok;
}

/* ---- documents below them ---- */

/*
 * Search children by their parents' _ids, which they show.  The index also tells where they lie
 * by now.
 */
static bool search_children(const struct cascade_find *l, const struct lookup_term *term,
                            const struct found_page *page, struct err *err)
{
    struct str *ids = mem_alloc(page->n, sizeof(*ids));
    const struct lookup_values values = {ids, page->n};
    struct buf query = {0};

    for (size_t i = 0; i < page->n; i++)
        ids[i] = page->hits[i].id;
    lookup_query(&query, term, &values, 1);

    const bool ok = cascade_find_all(l, buf_str(&query), err);

    buf_free(&query);
    free(ids);
    return ok;
}

/*
 * Search all tables below theirs, down to the last level: the rows there did not change
 * themselves.
 */
static bool search_below(const struct cascade_find *l, const struct found_page *page,
                         struct err *err)
{
    const struct plan *plan = plan_of(l->target);
    bool ok = true;

    for (size_t i = 0; ok && i < l->routing->n_targets; i++) {
        struct target *t = l->routing->targets[i];
        struct cascade_find below = *l;
        struct lookup_term term;

        below.target = t;
        if (strcmp(t->index, l->target->index) == 0 && plan_of(t) != NULL &&
            lookup_children(plan, plan_of(t), page->arena, &term))
            ok = search_children(&below, &term, page, err);
    }
    return ok;
}
