#include "config.h"

#include "sync/fan_out_run.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "src/store_fan_out.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/turnstile.h"
#include "sync/document/resolver.h"
#include "sync/read_links.h"
#include "sync/routing.h"
#include "sync/seek.h"

#include <assert.h>
#include <stdlib.h>

#define SLICE_MIN 50
#define SLICE_MAX 1000

void fan_out_run_init(struct fan_out_run *r, void (*wake)(void *ctx), void *ctx)
{
    *r = (struct fan_out_run){.arena = arena_new(),
                              .page = arena_new(),
                              .slice_size = SLICE_MIN,
                              .wake = wake,
                              .ctx = ctx};
}

/*
 * Documents in flight.  A document whose row is gone, with which others may have gone, waits
 * for what foreign keys change, and that may wait for this run: so what is held (ticket_hold())
 * is as good as done.  Should it be lost, the event by which it went is read again.
 */
struct slice {
    unsigned refs;  /* atomic: the run's, and the ticket's */
    unsigned state; /* atomic; enum slice_state */
    struct turnstile gate;
    void (*wake)(void *ctx);
    void *ctx;
};

static void unref_slice(struct slice *s)
{
    if (__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(s);
}

static void drop_slice(struct fan_out_run *r)
{
    if (r->slice != NULL)
        unref_slice(r->slice);
    r->slice = NULL;
    r->n_out = 0;
}

void fan_out_run_fini(struct fan_out_run *r)
{
    drop_slice(r);
    arena_free(r->arena);
    arena_free(r->page);
    free(r->roots);
    buf_free(&r->pages.after);
    buf_free(&r->pages.behind);
    buf_free(&r->cursor);
}

static void forget_page(struct fan_out_run *r)
{
    arena_free(r->page);
    r->page = arena_new();
    r->n_roots = r->n_done = r->n_out = 0;
}

void fan_out_run_forget(struct fan_out_run *r)
{
    drop_slice(r);
    arena_free(r->arena);
    r->arena = arena_new();
    forget_page(r);
    r->number = 0;
}

void fan_out_run_begin(struct fan_out_run *r, uint64_t number, bool foreign,
                       const struct stored_fan_out *jobs, size_t n)
{
    fan_out_run_forget(r);
    r->number = number;
    r->place = jobs[0].place;
    r->by_row = jobs[0].by_row;
    r->foreign = foreign;
    r->keys = arena_alloc(r->arena, n, sizeof(*r->keys));
    r->n_keys = n;
    r->at_least = 0;
    r->documents = jobs[0].documents;
    r->pages.end = false;
    buf_clear(&r->pages.after);
    buf_append(&r->pages.after, jobs[0].cursor);
    for (size_t i = 0; i < n; i++) {
        r->keys[i] = arena_copy(r->arena, jobs[i].key);
        if (!foreign && jobs[i].at_least > r->at_least)
            r->at_least = jobs[i].at_least;
    }
}

bool fan_out_run_needs_page(const struct fan_out_run *r)
{
    return !r->pages.end && r->n_done == r->n_roots;
}

bool fan_out_run_is_over(const struct fan_out_run *r)
{
    return r->pages.end && r->n_done == r->n_roots;
}

static bool on_root(void *ctx, size_t key, struct str id, struct str root_key,
                    struct str routing)
{
    struct fan_out_run *r = ctx;

    (void)key;
    if (r->n_roots == r->cap_roots) {
        r->cap_roots = r->cap_roots == 0 ? 1024 : r->cap_roots * 2;
        r->roots = mem_resize(r->roots, r->cap_roots, sizeof(*r->roots));
    }
    r->roots[r->n_roots++] = (struct fan_out_root){.id = arena_copy(r->page, id),
                                                   .key = arena_copy(r->page, root_key),
                                                   .routing = arena_copy(r->page, routing)};
    return true;
}

static struct resolver_rows rows_of(const struct fan_out_run *r, const struct target *t)
{
    return (struct resolver_rows){.plan = ((const struct reading *)t->plan)->plan,
                                  .place = r->place,
                                  .by_row = r->by_row,
                                  .keys = r->keys,
                                  .n = r->n_keys};
}

/* A page that was not read to its end is read again from where it began. */
bool fan_out_run_read_page(struct fan_out_run *r, const struct target *t, struct read_links *l,
                           size_t limit, struct err *err)
{
    const struct resolver_rows rows = rows_of(r, t);
    const struct resolver_sink sink = {.found = on_root, .ctx = r};
    uint64_t stamp;

    forget_page(r);

    const bool ok = read_links_open(l, t->plan, r->at_least, &stamp, err) &&
                    resolver_page(l->conns, &rows, limit, &r->pages, &sink, err) &&
                    read_links_end(l, err);

    if (!ok) {
        read_links_close(l);
        forget_page(r);
    }
    return ok;
}

/* ---- slices ---- */

static void end_slice(struct slice *s, enum slice_state how)
{
    __atomic_store_n(&s->state, how, __ATOMIC_RELEASE);
    s->wake(s->ctx);
    unref_slice(s);
}

enum slice_state fan_out_slice_end(enum outcome worst)
{
    return worst == OUTCOME_DEFERRED ? SLICE_UNDONE : SLICE_DONE;
}

static void on_done(void *ctx, enum outcome worst)
{
    end_slice(ctx, fan_out_slice_end(worst));
}

static void on_abandon(void *ctx)
{
    end_slice(ctx, SLICE_UNDONE);
}

enum slice_state fan_out_run_slice(const struct fan_out_run *r)
{
    enum slice_state state;
    bool clear;

    if (r->slice == NULL)
        return SLICE_NONE;
    clear = turnstile_is_clear(&r->slice->gate);
    state = (enum slice_state)__atomic_load_n(&r->slice->state, __ATOMIC_ACQUIRE);
    return state == SLICE_OUT && clear ? SLICE_DONE : state;
}

/* A ticket of what goes out. */
static struct ticket *open_slice(struct fan_out_run *r, size_t n)
{
    struct slice *s = mem_alloc(1, sizeof(*s));
    struct ticket *ticket = ticket_new_cb(on_done, s);

    *s = (struct slice){.refs = 2, .state = SLICE_OUT, .wake = r->wake, .ctx = r->ctx};
    ticket_on_abandon(ticket, on_abandon);
    ticket_pass(ticket, &s->gate, turnstile_enter(&s->gate));
    if (!turnstile_turn(&s->gate, 0))
        assert(false);
    r->slice = s;
    r->n_out = n;
    r->out_ms = clock_mono_ms();
    return ticket;
}

struct slice_writes {
    struct doc_write *list;
    size_t n;
};

/* Of the next n roots.  One above the position, where what its own events ask for stands as
 * well. */
static struct slice_writes slice_writes(const struct fan_out_run *r, struct target *t,
                                        const struct fan_out_way *way, size_t n,
                                        struct ticket *ticket)
{
    const struct seek seek = seek_from(t, r->place);
    struct slice_writes w = {.list = mem_alloc(n * (seek.n_shards + 1), sizeof(*w.list))};

    for (size_t i = 0; i < n; i++) {
        const struct fan_out_root *root = &r->roots[r->n_done + i];

        for (size_t k = 0; k < seek_count(&seek, root->routing); k++)
            w.list[w.n++] =
                (struct doc_write){.target = target_ref(t),
                                   .ticket = ticket_ref(ticket),
                                   .op = DOC_REFRESH,
                                   .gathered = true,
                                   .version = r->foreign ? way->read + 1 : r->at_least,
                                   .fresh = r->foreign,
                                   .id = root->id,
                                   .key = root->key,
                                   .routing = seek_at(&seek, root->routing, k)};
    }
    return w;
}

bool fan_out_run_submit(struct fan_out_run *r, struct target *t, const struct fan_out_way *way,
                        struct err *err)
{
    const size_t left = r->n_roots - r->n_done,
                 most = r->slice_size < way->max ? r->slice_size : way->max;
    const size_t n = left < most ? left : most;
    struct ticket *ticket = open_slice(r, n);
    const struct slice_writes w = slice_writes(r, t, way, n, ticket);
    bool ok;

    assert(n > 0);
    ok = w.n == 0 || delivery_submit_until(way->delivery, way->stop, w.list, w.n, err);
    for (size_t i = 0; !ok && i < w.n; i++) {
        ticket_abandon(w.list[i].ticket);
        target_unref(w.list[i].target);
    }
    free(w.list);
    FAILPOINT(fan_out_submitted);
    ticket_done(ticket, OUTCOME_DELIVERED);
    return ok;
}

size_t fan_out_slice_size(size_t n, int64_t took_ms)
{
    const size_t fit = n * SLICE_MS / (size_t)(took_ms < 1 ? 1 : took_ms);
    const size_t near = fit > n * 2 ? n * 2 : fit < n / 2 ? n / 2 : fit;

    return near < SLICE_MIN ? SLICE_MIN : near > SLICE_MAX ? SLICE_MAX : near;
}

struct str fan_out_run_acknowledge(struct fan_out_run *r, int64_t now_ms)
{
    assert(fan_out_run_slice(r) == SLICE_DONE);
    if (r->n_out >= r->slice_size) /* the last of a page says less */
        r->slice_size = fan_out_slice_size(r->n_out, now_ms - r->out_ms);
    r->n_done += r->n_out;
    r->documents += r->n_out;
    drop_slice(r);
    buf_clear(&r->cursor);
    if (r->n_done == r->n_roots)
        buf_append(&r->cursor, buf_str(&r->pages.after));
    else
        resolver_after(&r->pages, r->roots[r->n_done - 1].key, &r->cursor);
    return buf_str(&r->cursor);
}
