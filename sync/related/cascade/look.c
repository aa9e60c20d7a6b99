#include "config.h"

#include "sync/related/cascade/find.h"
#include "sync/related/cascade/parts.h"

#include "src/base/arena.h"
#include "src/base/failpoint.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/search/search.h"
#include "src/store/later/kept_search.h"

struct cascade_search {
    struct cascades *c;
    struct following *f;
    struct cascade_rows *rows;
    const struct cascade_key *key;
    const struct plan *plan;
    size_t place;
};

static bool is_filling(const struct cascade_rows *r)
{
    return ((const struct reading *)cascade_rows_target(r)->plan)->filling;
}

static bool leads_down(const struct cascade_key *key, const struct plan *plan, size_t place)
{
    bool leads = key->deletes;

    for (size_t i = 0; i < key->n_columns; i++)
        leads = leads || lookup_places(plan, key->columns[i]);
    return leads && place == 0;
}

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

static struct ticket *page_ticket(void *ctx)
{
    struct cascade_search *l = ctx;
    struct ticket *t = make_ticket(l);

    cascade_rows_found(l->rows);
    ticket_pass(t, l->f->grace_period, grace_period_enter(l->f->grace_period));
    return t;
}

/* Leave out documents whose rows are known to be gone. */
static bool is_to_be_read(void *ctx, const struct cascade_found *f)
{
    struct cascade_search *l = ctx;

    return !cascades_lead_on(l->c, f->target) ||
           cascades_is_to_be_read(l->c, f, l->rows->from.swept);
}

static bool find(struct cascade_search *l, struct str query, struct err *err)
{
    const struct cascade_find f = {.search = l->c->opt.search,
                                   .delivery = l->c->opt.delivery,
                                   .stop = &l->c->stop,
                                   .routing = l->rows->from.routing,
                                   .target = cascade_rows_target(l->rows),
                                   .down = leads_down(l->key, l->plan, l->place),
                                   .at_least = l->rows->from.at_least,
                                   .commit_ms = l->rows->from.commit_ms,
                                   .ctx = l,
                                   .ticket = page_ticket,
                                   .is_to_be_read = is_to_be_read};

    return cascade_find_all(&f, query, err);
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

/*
 * The query for the documents that show a key's children at one place.  Appends nothing if no
 * such key changed, or if the index cannot be searched by it, as *why says then.
 */
static bool make_query(struct cascade_search *l, struct buf *query, struct err *why,
                       struct err *err)
{
    const struct cascade_list *lists =
        l->rows->values[l->key - cascade_rows_effect(l->rows)->keys];
    const size_t n = l->key->n_columns;
    struct arena *a = arena_new();
    struct lookup_term *terms = arena_alloc(a, n, sizeof(*terms));
    struct lookup_values *values = arena_alloc(a, n, sizeof(*values));
    bool ok = lists[0].n > 0 && load_mapping(l->c, l->f, err), found = ok;

    for (size_t i = 0; found && i < n; i++) {
        values[i] = (struct lookup_values){lists[i].texts, lists[i].n};
        found = lookup_find(l->plan, l->place, l->key->columns[i], buf_str(&l->f->mapping), a,
                            &terms[i], why);
    }
    if (found)
        lookup_query(query, terms, values, n);
    arena_free(a);
    return ok || lists[0].n == 0;
}

/* Search one place by one key.  Mark the index version if that cannot be searched. */
static bool run_look(struct cascade_search *l, struct err *err)
{
    struct buf query = {0};
    struct err why = {0};
    bool ok = make_query(l, &query, &why, err);

    if (ok && query.len > 0)
        ok = find(l, buf_str(&query), err);
    else if (ok && why.kind != ERR_NONE)
        mark_key(l, &why);
    buf_free(&query);
    return ok;
}

static struct cascade_search search_of(struct cascades *c, struct following *f,
                                       struct cascade_rows *r, size_t look)
{
    const struct cascade_effect *effect = cascade_rows_effect(r);
    const struct cascade_look *at = &effect->steps[r->step].looks[look];

    return (struct cascade_search){
        .c = c,
        .f = f,
        .rows = r,
        .key = &effect->keys[at->key],
        .plan = ((const struct reading *)cascade_rows_target(r)->plan)->plan,
        .place = at->place};
}

bool cascades_run_rows(struct cascades *c, struct following *f, struct cascade_rows *r,
                       struct err *err)
{
    const size_t n = cascade_rows_effect(r)->steps[r->step].n_looks;

    if (is_filling(r))
        cascades_mark_below(c, cascade_rows_target(r));
    (void)cascade_rows_ticket(r);
    for (size_t i = 0; i < n; i++) {
        struct cascade_search l = search_of(c, f, r, i);

        if (!run_look(&l, err))
            return false;
    }
    cascade_rows_end(r);
    return true;
}

/* ---- for the end of a build ---- */

static struct kept_search kept_of(struct cascade_search *l, struct str query)
{
    const struct target *t = cascade_rows_target(l->rows);
    const struct reading *reading = t->plan;

    return (struct kept_search){.index = str_from(reading->alias),
                                .version = reading->number,
                                .member = str_from(t->table),
                                .down = leads_down(l->key, l->plan, l->place),
                                .query = query};
}

bool cascades_keep_rows(struct cascades *c, struct following *f, struct cascade_rows *r,
                        struct err *err)
{
    const struct kept_search_owner owner = {str_from(c->opt.topic), c->opt.term};
    const size_t n_looks = cascade_rows_effect(r)->steps[r->step].n_looks;
    struct arena *a = arena_new();
    struct kept_search *kept = arena_alloc(a, n_looks + 1, sizeof(*kept));
    size_t n = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < n_looks && is_filling(r); i++) {
        struct cascade_search l = search_of(c, f, r, i);
        struct buf query = {0};
        struct err unsearchable = {0};

        ok = make_query(&l, &query, &unsearchable, err);
        if (ok && query.len > 0)
            kept[n++] = kept_of(&l, arena_copy(a, buf_str(&query)));
        buf_free(&query);
    }
    if (ok && n > 0) {
        ok = store_keep_searches(c->opt.store, &owner, kept, n, err);
        FAILPOINT(searches_kept);
    }
    r->kept = ok;
    arena_free(a);
    return ok;
}
