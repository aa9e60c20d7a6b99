#include "config.h"

#include "sync/related/cascade/parts.h"

#include "src/base/arena.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/search/pages.h"
#include "sync/delivery/delivery.h"

#include <stdlib.h>
#include <string.h>

#define PAGE  LOOKUP_MAX /* documents per answer */
#define SLICE 250        /* documents submitted at a time */

struct cascade_search {
    struct cascades *c;
    struct following *f;
    struct cascade_rows *rows;
    const struct cascade_key *key;
    struct target *target; /* search its documents */
    const struct plan *plan;
    size_t place;
    bool down; /* documents below them in their join move, too */
};

/* Documents of one answer, with their keys. */
struct found_page {
    struct arena *arena;
    struct search_hit *hits;
    struct str *keys;
    size_t n;
};

/* Each page has a ticket of its own, which holds that of the rows. */
static void on_page(void *ctx, enum outcome worst)
{
    ticket_release(MAGIC_CAST(ticket, ctx), worst);
}

static void on_page_abandoned(void *ctx)
{
    ticket_release_abandoned(MAGIC_CAST(ticket, ctx));
}

static struct ticket *make_ticket(struct cascade_search *l)
{
    if (l->rows->from.swept)
        return cascades_sweep_ticket(l->c);

    struct ticket *t = ticket_new_cb(on_page, ticket_hold(cascade_rows_ticket(l->rows)));

    ticket_on_abandon(t, on_page_abandoned);
    return t;
}

static struct ticket *page_ticket(struct cascade_search *l)
{
    struct ticket *t = make_ticket(l);

    ticket_pass(t, l->f->grace_period, grace_period_enter(l->f->grace_period));
    return t;
}

static bool submit_slice(struct cascade_search *l, const struct found_page *page, size_t from,
                         size_t n, struct ticket *ticket, struct err *err)
{
    struct doc_write writes[SLICE];

    for (size_t i = 0; i < n; i++)
        writes[i] = (struct doc_write){.target = target_ref(l->target),
                                       .ticket = ticket_ref(ticket),
                                       .op = DOC_REFRESH,
                                       .version = l->rows->from.at_least,
                                       .id = page->hits[from + i].id,
                                       .routing = page->hits[from + i].routing,
                                       .key = page->keys[from + i],
                                       .commit_ms = l->rows->from.commit_ms};
    if (delivery_submit_until(l->c->opt.delivery, &l->c->stop, writes, n, err))
        return true;
    for (size_t i = 0; i < n; i++) {
        ticket_abandon(writes[i].ticket);
        target_unref(writes[i].target);
    }
    return false;
}

/* Leave out documents whose rows are known to be gone. */
static struct found_page unknown_of(struct cascade_search *l, const struct found_page *page)
{
    const bool leads = cascades_lead_on(l->c, l->target);
    struct found_page out = {.hits = arena_alloc(page->arena, page->n, sizeof(*out.hits)),
                             .keys = arena_alloc(page->arena, page->n, sizeof(*out.keys))};

    for (size_t i = 0; i < page->n; i++) {
        const struct cascade_found f = {.target = l->target,
                                        .id = page->hits[i].id,
                                        .routing = page->hits[i].routing,
                                        .key = page->keys[i],
                                        .version = page->hits[i].version};

        if (leads && !cascades_is_to_be_read(l->c, &f, l->rows->from.swept))
            continue;
        out.hits[out.n] = page->hits[i];
        out.keys[out.n++] = page->keys[i];
    }
    return out;
}

static bool submit_page(struct cascade_search *l, const struct found_page *all, struct err *err)
{
    const struct found_page unknown = unknown_of(l, all), *page = &unknown;
    struct ticket *ticket = page_ticket(l);
    bool ok = true;

    cascade_rows_found(l->rows);
    for (size_t i = 0; ok && i < page->n; i += SLICE)
        ok = submit_slice(l, page, i, page->n - i < SLICE ? page->n - i : SLICE, ticket, err);
    if (ok)
        ticket_done(ticket, OUTCOME_DELIVERED);
    else
        ticket_abandon(ticket);
    return ok;
}

/* Skip an _id that is no key: another table of the index has it, or we did not write it. */
static void read_keys(const struct cascade_search *l, struct found_page *page,
                      const struct search_hit *hits, size_t n)
{
    struct buf key = {0};

    page->hits = arena_alloc(page->arena, n, sizeof(*page->hits));
    page->keys = arena_alloc(page->arena, n, sizeof(*page->keys));
    for (size_t i = 0; i < n; i++) {
        struct err ignored = {0};

        buf_clear(&key);
        if (!plan_key_of_id(l->plan, hits[i].id, &key, &ignored))
            continue;
        page->hits[page->n] = hits[i];
        page->keys[page->n++] = arena_copy(page->arena, buf_str(&key));
    }
    buf_free(&key);
}

static bool search_below(struct cascade_search *l, const struct found_page *page,
                         struct err *err);

static bool take_page(struct cascade_search *l, const struct search_hit *hits, size_t n,
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

static bool search_all(struct cascade_search *l, struct str query, struct err *err)
{
    struct search_pages pages = {0};
    struct arena *a = arena_new();
    struct search_hit *hits;
    size_t n;
    bool ok = search_pages_open(&pages, l->c->opt.search, str_from(l->f->index), query, PAGE,
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
static bool search_children(struct cascade_search *l, const struct lookup_term *term,
                            const struct found_page *page, struct err *err)
{
    struct str *ids = mem_alloc(page->n, sizeof(*ids));
    const struct lookup_values values = {ids, page->n};
    struct buf query = {0};

    for (size_t i = 0; i < page->n; i++)
        ids[i] = page->hits[i].id;
    lookup_query(&query, term, &values, 1);

    const bool ok = search_all(l, buf_str(&query), err);

    buf_free(&query);
    free(ids);
    return ok;
}

/*
 * Search all tables below theirs, down to the last level: the rows there did not change
 * themselves.
 */
static bool search_below(struct cascade_search *l, const struct found_page *page,
                         struct err *err)
{
    const struct routing *routing = l->rows->from.routing;
    bool ok = true;

    for (size_t i = 0; ok && i < routing->n_targets; i++) {
        struct target *t = routing->targets[i];
        struct cascade_search below = *l;
        struct lookup_term term;

        below.target = t;
        below.plan = ((const struct reading *)t->plan)->plan;
        if (strcmp(t->index, l->target->index) == 0 && below.plan != NULL &&
            lookup_children(l->plan, below.plan, page->arena, &term))
            ok = search_children(&below, &term, page, err);
    }
    return ok;
}

static bool leads_down(const struct cascade_key *key, const struct plan *plan, size_t place)
{
    bool leads = key->deletes;

    for (size_t i = 0; i < key->n_columns; i++)
        leads = leads || lookup_places(plan, key->columns[i]);
    return leads && place == 0;
}

/* ---- where to look ---- */

static bool load_mapping(struct cascades *c, struct following *f, struct err *err)
{
    return f->mapping.len > 0 ||
           search_get_mapping(c->opt.search, str_from(f->index), &f->mapping, err);
}

static void mark_key(struct cascade_search *l, const struct err *why)
{
    struct buf reason = {0};

    buf_printf(&reason,
               "the foreign key `%" STR_FMT "` changed rows of %" STR_FMT ".%" STR_FMT
               " by itself: %s",
               STR_ARG(l->key->name), STR_ARG(l->key->child->schema),
               STR_ARG(l->key->child->table), why->msg);
    cascades_mark(l->c, cascade_rows_target(l->rows), reason.ptr);
    buf_free(&reason);
}

/* Search one place by one key.  Mark the index version if that cannot be searched. */
static bool run_look(struct cascade_search *l, struct err *err)
{
    const struct cascade_list *lists =
        l->rows->values[l->key - cascade_rows_effect(l->rows)->keys];
    const size_t n = l->key->n_columns;
    struct arena *a = arena_new();
    struct lookup_term *terms = arena_alloc(a, n, sizeof(*terms));
    struct lookup_values *values = arena_alloc(a, n, sizeof(*values));
    struct buf query = {0};
    struct err why = {0};
    bool ok = lists[0].n > 0 && load_mapping(l->c, l->f, err), found = ok;

    for (size_t i = 0; found && i < n; i++) {
        values[i] = (struct lookup_values){lists[i].texts, lists[i].n};
        found = lookup_find(l->plan, l->place, l->key->columns[i], buf_str(&l->f->mapping), a,
                            &terms[i], &why);
    }
    if (found) {
        lookup_query(&query, terms, values, n);
        ok = search_all(l, buf_str(&query), err);
    } else if (ok) {
        mark_key(l, &why);
    }
    buf_free(&query);
    arena_free(a);
    return ok || lists[0].n == 0;
}

bool cascades_run_rows(struct cascades *c, struct following *f, struct cascade_rows *r,
                       struct err *err)
{
    const struct cascade_effect *effect = cascade_rows_effect(r);
    const struct cascade_step *step = &effect->steps[r->step];
    const struct plan *plan = ((struct reading *)cascade_rows_target(r)->plan)->plan;

    if (((const struct reading *)cascade_rows_target(r)->plan)->filling)
        cascades_mark_below(c, cascade_rows_target(r));
    (void)cascade_rows_ticket(r);
    for (size_t i = 0; i < step->n_looks; i++) {
        const struct cascade_key *key = &effect->keys[step->looks[i].key];
        const size_t place = step->looks[i].place;
        struct cascade_search l = {.c = c,
                                   .f = f,
                                   .rows = r,
                                   .key = key,
                                   .target = cascade_rows_target(r),
                                   .plan = plan,
                                   .place = place,
                                   .down = leads_down(key, plan, place)};

        if (!run_look(&l, err))
            return false;
    }
    cascade_rows_end(r);
    return true;
}
