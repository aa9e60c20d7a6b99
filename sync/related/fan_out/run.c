#include "config.h"

#include "sync/related/fan_out/run.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/store/later/fan_out.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/delivery/delivery.h"
#include "sync/document/resolver.h"
#include "sync/read/links.h"
#include "sync/related/fan_out/bell.h"
#include "sync/routing/routing.h"

#include <assert.h>
#include <stdlib.h>

#define SLICE_MIN 50
#define SLICE_MAX 1000 /* without a backlog */
#define OWED_MAX  10000
#define SUBMIT    500 /* writes submitted at a time */

void fan_out_run_init(struct fan_out_run *r, struct bell *bell)
{
    *r = (struct fan_out_run){.arena = arena_new(),
                              .page = arena_new(),
                              .slice_size = SLICE_MIN,
                              .others_ms = clock_mono_ms(),
                              .bell = bell_ref(bell)};
}

/*
 * Documents in flight.  A document whose row is gone may have taken other rows along: it waits
 * until the cascades have followed these, which in turn may wait for this run.  So a held
 * document (ticket_hold()) counts as done.  If it is lost, the stream reads the event that
 * removed its row again.
 */
struct slice {
    enum magic magic;
    unsigned refs;  /* atomic: one of the run, one of the ticket */
    unsigned state; /* atomic; enum slice_state */
    struct grace_period *gate;
    struct bell *bell;
};

static void unref_slice(struct slice *s)
{
    if (__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    grace_period_unref(s->gate);
    bell_unref(s->bell);
    MAGIC_END(slice, s);
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
    bell_unref(r->bell);
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
    r->written = UINT64_MAX;
    r->owed = 0;
    r->place = jobs[0].place;
    r->by = jobs[0].by;
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
                                  .by = r->by,
                                  .keys = r->keys,
                                  .n = r->n_keys};
}

/* If a page is not read to its end, the next call reads it again from its start. */
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
    bell_ring(s->bell);
    unref_slice(s);
}

enum slice_state fan_out_slice_end(enum outcome worst)
{
    return worst == OUTCOME_DEFERRED ? SLICE_UNDONE : SLICE_DONE;
}

static void on_done(void *ctx, enum outcome worst)
{
    end_slice(MAGIC_CAST(slice, ctx), fan_out_slice_end(worst));
}

static void on_abandon(void *ctx)
{
    end_slice(MAGIC_CAST(slice, ctx), SLICE_UNDONE);
}

enum slice_state fan_out_run_slice(const struct fan_out_run *r)
{
    enum slice_state state;
    bool clear;

    if (r->slice == NULL)
        return SLICE_NONE;
    clear = grace_period_is_clear(r->slice->gate);
    state = (enum slice_state)__atomic_load_n(&r->slice->state, __ATOMIC_ACQUIRE);
    return state == SLICE_OUT && clear ? SLICE_DONE : state;
}

/* Open a slice of n documents.  Returns the ticket for its writes. */
static struct ticket *open_slice(struct fan_out_run *r, size_t n)
{
    struct slice *s = mem_alloc(1, sizeof(*s));
    struct ticket *ticket = ticket_new_cb(on_done, s);

    *s = (struct slice){.magic = MAGIC_slice,
                        .refs = 2,
                        .state = SLICE_OUT,
                        .gate = grace_period_new(),
                        .bell = bell_ref(r->bell)};
    ticket_on_abandon(ticket, on_abandon);
    ticket_pass(ticket, s->gate, grace_period_enter(s->gate));
    if (!grace_period_turn(s->gate, 0))
        assert(false);
    r->slice = s;
    r->n_out = n;
    r->out_ms = clock_mono_ms();
    return ticket;
}

/* A part of a slice's writes.  One root may need several. */
struct slice_writes {
    const struct fan_out_run *run;
    const struct fan_out_way *way;
    struct target *target;
    struct ticket *ticket;
    struct seek seek;
    struct doc_write *list;
    size_t n, n_roots; /* n_roots: roots of the slice added so far */
};

/*
 * Add the writes of the next root.  The version of a foreign change is one above the read
 * position, as is that of the root's own next event.
 */
static void add_root(struct slice_writes *w)
{
    const struct fan_out_run *r = w->run;
    const struct fan_out_root *root = &r->roots[r->n_done + w->n_roots++];

    for (size_t k = 0; k < seek_count(&w->seek, root->routing); k++)
        w->list[w->n++] =
            (struct doc_write){.target = target_ref(w->target),
                               .ticket = ticket_ref(w->ticket),
                               .op = DOC_REFRESH,
                               .gathered = true,
                               .version = r->foreign ? w->way->read + 1 : r->at_least,
                               .fresh = r->foreign,
                               .id = root->id,
                               .key = root->key,
                               .routing = seek_at(&w->seek, root->routing, k)};
}

static bool submit_writes(struct slice_writes *w, struct err *err)
{
    const bool ok =
        w->n == 0 || delivery_submit_until(w->way->delivery, w->way->stop, w->list, w->n, err);

    for (size_t i = 0; !ok && i < w->n; i++) {
        ticket_abandon(w->list[i].ticket);
        target_unref(w->list[i].target);
    }
    w->n = 0;
    return ok;
}

/*
 * Submit the next n roots in parts: a long slice takes no more room at a time than other work
 * does, in however many shards its documents are searched.
 */
static bool submit_roots(struct slice_writes *w, size_t n, struct err *err)
{
    bool ok = true;

    w->seek = seek_from(w->target, w->run->place);
    w->list = mem_alloc(SUBMIT + w->seek.n_shards, sizeof(*w->list));
    while (ok && w->n_roots < n) {
        add_root(w);
        if (w->n >= SUBMIT || w->n_roots == n)
            ok = submit_writes(w, err);
    }
    free(w->list);
    return ok;
}

bool fan_out_run_submit(struct fan_out_run *r, struct target *t, const struct fan_out_way *way,
                        struct err *err)
{
    const size_t left = r->n_roots - r->n_done,
                 wanted = r->owed > r->slice_size ? r->owed : r->slice_size,
                 most = wanted < way->max ? wanted : way->max;
    const size_t n = left < most ? left : most;
    struct ticket *ticket = open_slice(r, n);
    struct slice_writes w = {.run = r, .way = way, .target = t, .ticket = ticket};
    const bool ok = submit_roots(&w, n, err);

    assert(n > 0);
    if (r->written == UINT64_MAX)
        r->written = way->written;
    FAILPOINT(fan_out_submitted);
    ticket_done(ticket, OUTCOME_DELIVERED);
    return ok;
}

/* As many documents as take ms, but between half and double the last slice. */
static size_t fit(const struct fan_out_pace *p, int64_t ms)
{
    const size_t fits = p->n * (size_t)ms / (size_t)(p->took_ms < 1 ? 1 : p->took_ms);
    const size_t near = fits > p->n * 2 ? p->n * 2 : fits < p->n / 2 ? p->n / 2 : fits;

    return near < SLICE_MIN ? SLICE_MIN : near > SLICE_MAX ? SLICE_MAX : near;
}

size_t fan_out_slice_size(const struct fan_out_pace *p)
{
    return fit(p, p->alone_ms >= SLICE_ALONE_MS ? SLICE_ALONE_MS : SLICE_MS);
}

size_t fan_out_slice_owed(const struct fan_out_pace *p, unsigned percent, size_t owed)
{
    const uint64_t due = owed + p->others * percent / (100 - percent);

    return due < p->n ? 0 : due - p->n < OWED_MAX ? (size_t)(due - p->n) : OWED_MAX;
}

/*
 * Of all that was written since the previous slice, what exceeds this slice belongs to others.
 */
static struct fan_out_pace pace_of(struct fan_out_run *r, const struct fan_out_way *way,
                                   int64_t now_ms)
{
    const uint64_t written = way->written > r->written ? way->written - r->written : 0;
    const uint64_t others = written > r->n_out ? written - r->n_out : 0;

    if (others > 0)
        r->others_ms = now_ms;
    r->written = way->written;
    return (struct fan_out_pace){.n = r->n_out,
                                 .took_ms = now_ms - r->out_ms,
                                 .others = others,
                                 .alone_ms = now_ms - r->others_ms};
}

/*
 * Returns the place after the last acknowledged root; n_done must be > 0.  Borrowed until the
 * next call.
 */
static struct str cursor_of(struct fan_out_run *r)
{
    buf_clear(&r->cursor);
    if (r->n_done == r->n_roots)
        buf_append(&r->cursor, buf_str(&r->pages.after));
    else
        resolver_after(&r->pages, r->roots[r->n_done - 1].key, &r->cursor);
    return buf_str(&r->cursor);
}

struct str fan_out_run_acknowledge(struct fan_out_run *r, const struct fan_out_way *way,
                                   int64_t now_ms)
{
    const struct fan_out_pace pace = pace_of(r, way, now_ms);

    assert(fan_out_run_slice(r) == SLICE_DONE);
    /* The last slice of a page, or one enlarged by what is owed, says less about the pace. */
    if (r->n_out == r->slice_size)
        r->slice_size = fan_out_slice_size(&pace);
    r->owed = fan_out_slice_owed(&pace, way->share, r->owed);
    r->n_done += r->n_out;
    r->documents += r->n_out;
    drop_slice(r);
    return cursor_of(r);
}
