#include "config.h"

#include "sync/related/cascade/find.h"
#include "sync/related/cascade/parts.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"
#include "sync/document/key.h"

#include <stdlib.h>

#define REST_AT_MS 12000 /* a stream idle this long, with all work done, is at rest */
#define WATCHED_MS 5000  /* looks at the stream that are further apart do not show it idle */
#define SLICE      250   /* documents submitted at a time */
#define AT_ONCE    5000  /* documents that are followed together */

/* ---- members ---- */

void cascades_sweep_take(struct cascades *c, struct gone_document *d)
{
    struct sweep *s = &c->sweep;

    if (s->n == s->cap) {
        s->cap = s->cap == 0 ? 64 : s->cap * 2;
        s->docs = mem_resize(s->docs, s->cap, sizeof(struct gone_document *));
    }
    d->swept = true;
    s->docs[s->n++] = d;
}

/* Take a document into the sweep before its read tells whether its row is gone. */
static void ask(struct cascades *c, const struct cascade_found *f) NEEDS(c->lock)
{
    const struct gone_row row = {
        .target = f->target, .id = f->id, .routing = f->routing, .key = f->key};

    cascades_sweep_take(c, gone_set_add(&c->gone, &row, clock_wall_ms()));
}

/*
 * The index still shows the state of the last read, or an older one: nothing was written since,
 * as all work begun before the search is over.
 */
static bool is_known(const struct gone_document *d, uint64_t version)
{
    return d->state != GONE_ASKED && version <= d->stamp;
}

bool cascades_is_to_be_read(struct cascades *c, const struct cascade_found *f, bool swept)
{
    bool read = true;

    lock_acquire(&c->lock);

    struct gone_document *d = gone_set_find(&c->gone, f->target, f->routing, f->id);

    if (!swept) {
        read = d == NULL || !d->stored || !is_known(d, f->version);
    } else if (d == NULL) {
        ask(c, f);
    } else {
        if (!d->swept)
            cascades_sweep_take(c, d);
        else
            read = d->state != GONE_ASKED;
        read = read && !is_known(d, f->version);
    }
    lock_release(&c->lock);
    return read;
}

static bool is_due(const struct cascades *c, const struct gone_document *d)
{
    return c->rests || c->stream >= d->log_end;
}

/*
 * Begin a sweep with all documents that the stream has reached.  Look at the others only when
 * the stream has reached the first of them.
 */
static void gather(struct cascades *c)
{
    struct gone_document *d;

    lock_acquire(&c->lock);
    if (c->rests || c->stream >= c->next_due) {
        c->next_due = UINT64_MAX;
        for (size_t i = 0; (d = gone_set_next(&c->gone, &i)) != NULL;)
            if (is_due(c, d))
                cascades_sweep_take(c, d);
            else if (d->log_end < c->next_due)
                c->next_due = d->log_end;
    }
    lock_release(&c->lock);
}

/* Drop documents whose rows were re-read and not found to be gone. */
static bool drop_found(struct cascades *c, struct err *err)
{
    struct sweep *s = &c->sweep;
    struct gone_document **found = mem_alloc(s->n + 1, sizeof(struct gone_document *));
    size_t n_found = 0, kept = 0;

    lock_acquire(&c->lock);
    for (size_t i = 0; i < s->n; i++)
        if (s->docs[i]->state == GONE_ASKED)
            found[n_found++] = s->docs[i];
    lock_release(&c->lock);

    const bool ok = cascades_unstore(c, found, n_found, err);

    /* One whose row was meanwhile found to be gone, for somebody else, is stored anew. */
    lock_acquire(&c->lock);
    for (size_t i = 0; ok && i < s->n; i++) {
        struct gone_document *d = s->docs[i];

        if (d->state != GONE_ASKED) {
            s->docs[kept++] = d;
            continue;
        }
        gone_set_remove(&c->gone, d);
        gone_document_free(d);
    }
    if (ok)
        s->n = kept;
    lock_release(&c->lock);
    free(found);
    return ok;
}

/* ---- following ---- */

/*
 * Append the values of the columns that k refers to, from a root key.  Returns false if the key
 * lacks one of them.
 */
static bool append_key(const struct plan *plan, const struct cascade_key *k, struct str key,
                       struct buf *out)
{
    for (size_t i = 0; i < k->n_columns; i++) {
        struct str rest = key, part = {0};
        size_t at;

        if (!lookup_root_column(plan, k->parent_columns[i], &at))
            return false;
        for (size_t n = 0; n <= at; n++)
            if (!key_next(&rest, &part))
                return false;
        key_append_part(out, part);
    }
    return true;
}

/* The values of the effect's keys, as far as the row's root key has them. */
static struct str *root_keys(const struct cascade_effect *effect, const struct plan *plan,
                             struct str key, struct arena *a)
{
    struct str *keys = arena_alloc(a, effect->n_keys + 1, sizeof(*keys));

    for (size_t k = 0; k < effect->n_keys; k++) {
        struct buf values = {0};

        if (append_key(plan, &effect->keys[k], key, &values))
            keys[k] = arena_copy(a, buf_str(&values));
        buf_free(&values);
    }
    return keys;
}

/* Look for what the document leads to.  Only the sweep waits for it. */
static void follow(struct cascades *c, struct routing *routing, const struct gone_document *d)
{
    const struct cascade_origin from = {.routing = routing,
                                        .table = cascades_leading_root(routing, d->target),
                                        .cause = CASCADE_DELETE,
                                        .swept = true,
                                        .at_least = c->stream + 1};

    if (cascades_is_given_up(c, d->target)) {
        cascades_mark_below(c, d->target);
        return;
    }
    if (from.table == NULL)
        return;

    const struct cascade_effect *effect = &from.table->on[from.cause];
    const struct plan *plan = ((const struct reading *)d->target->plan)->plan;
    struct arena *a = arena_new();
    const struct str *keys = root_keys(effect, plan, d->key, a);

    cascades_add(c, &from, keys,
                 arena_alloc(a, effect->n_steps + 1, sizeof(struct cascade_hold)));
    arena_free(a);
}

/* Take up to AT_ONCE due documents; returns their number.  Sets *later if others are left. */
static size_t take_new(struct cascades *c, struct gone_document **out, bool *later)
{
    size_t n = 0;

    *later = false;
    lock_acquire(&c->lock);
    for (size_t i = 0; i < c->sweep.n; i++) {
        struct gone_document *d = c->sweep.docs[i];

        if (d->state != GONE_NEW)
            continue;
        if (n < AT_ONCE && d->stored && is_due(c, d)) {
            d->state = GONE_FOLLOWED;
            out[n++] = d;
        } else {
            *later = true;
        }
    }
    lock_release(&c->lock);
    return n;
}

/* Returns false if all were followed. */
static bool follow_new(struct cascades *c)
{
    struct gone_document **due = mem_alloc(AT_ONCE, sizeof(struct gone_document *));
    struct routing *routing = cascades_routing(c);
    bool later;
    const size_t n = take_new(c, due, &later);

    for (size_t i = 0; i < n; i++)
        follow(c, routing, due[i]);
    routing_unref(routing);
    free(due);
    return n > 0 || later;
}

/* ---- deleting ---- */

static bool submit_slice(struct cascades *c, struct gone_document *const *docs, size_t n,
                         struct err *err)
{
    struct grace_period *t = cascades_grace_period(c, str_from(docs[0]->target->index));
    struct ticket *ticket = cascades_sweep_ticket(c);
    struct doc_write writes[SLICE];

    ticket_pass(ticket, t, grace_period_enter(t));
    for (size_t i = 0; i < n; i++)
        writes[i] = (struct doc_write){.target = target_ref(docs[i]->target),
                                       .ticket = ticket_ref(ticket),
                                       .op = DOC_DELETE,
                                       .reread = true,
                                       .version = docs[i]->stamp,
                                       .id = docs[i]->id,
                                       .routing = docs[i]->routing,
                                       .key = docs[i]->key};

    const bool ok = delivery_submit_until(c->opt.delivery, &c->stop, writes, n, err);

    for (size_t i = 0; !ok && i < n; i++) {
        ticket_abandon(writes[i].ticket);
        target_unref(writes[i].target);
    }
    ticket_done(ticket, OUTCOME_DELIVERED);
    return ok;
}

/*
 * From here on, a document found to be gone once more is a new one.  Returns false if one was
 * found before that.
 */
static bool begin_leave(struct cascades *c)
{
    bool all = true;

    lock_acquire(&c->lock);
    for (size_t i = 0; i < c->sweep.n; i++)
        all = all && c->sweep.docs[i]->state == GONE_FOLLOWED;
    for (size_t i = 0; all && i < c->sweep.n; i++)
        c->sweep.docs[i]->state = GONE_LEAVING;
    lock_release(&c->lock);
    c->sweep.leaves = all;
    return all;
}

/* All keys are stored, so the order of the deletes does not matter. */
static void leave(struct cascades *c)
{
    struct gone_document *const *docs = c->sweep.docs;
    struct err err = {0};
    bool ok = begin_leave(c);

    for (size_t i = 0, n; ok && i < c->sweep.n; i += n) {
        for (n = 1; n < SLICE && i + n < c->sweep.n && docs[i + n]->target == docs[i]->target;)
            n++;
        if (!cascades_is_given_up(c, docs[i]->target))
            ok = submit_slice(c, docs + i, n, &err);
    }
}

static bool finish(struct cascades *c, struct err *err)
{
    struct sweep *s = &c->sweep;

    FAILPOINT(gone_deleted);
    if (!cascades_unstore(c, s->docs, s->n, err))
        return false;
    lock_acquire(&c->lock);
    for (size_t i = 0; i < s->n; i++) {
        gone_set_remove(&c->gone, s->docs[i]);
        gone_document_free(s->docs[i]);
    }
    gone_set_look(&c->gone);
    s->n = 0;
    s->leaves = false;
    c->next_due = 0;
    lock_release(&c->lock);
    return true;
}

/* ---- work under way ---- */

struct sweep_work *sweep_work_new(void)
{
    struct sweep_work *w = mem_alloc(1, sizeof(*w));

    w->magic = MAGIC_sweep_work;
    w->refs = 1;
    return w;
}

void sweep_work_unref(struct sweep_work *w)
{
    if (__atomic_sub_fetch(&w->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    MAGIC_END(sweep_work, w);
    free(w);
}

static void on_done(void *ctx, enum outcome worst)
{
    struct sweep_work *w = MAGIC_CAST(sweep_work, ctx);

    (void)worst;
    __atomic_sub_fetch(&w->n, 1, __ATOMIC_SEQ_CST);
    sweep_work_unref(w);
}

/* After an abandoned read nothing is known about the row: the sweep must not continue. */
static void on_abandoned(void *ctx)
{
    struct sweep_work *w = MAGIC_CAST(sweep_work, ctx);

    __atomic_store_n(&w->lost, true, __ATOMIC_SEQ_CST);
    on_done(w, OUTCOME_DEFERRED);
}

struct ticket *cascades_sweep_ticket(struct cascades *c)
{
    struct sweep_work *w = c->sweep.out;
    struct ticket *t = ticket_new_cb(on_done, w);

    __atomic_add_fetch(&w->refs, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&w->n, 1, __ATOMIC_SEQ_CST);
    ticket_on_abandon(t, on_abandoned);
    return t;
}

static bool is_out(struct cascades *c)
{
    if (__atomic_load_n(&c->sweep.out->n, __ATOMIC_SEQ_CST) > 0)
        return true;
    lock_acquire(&c->lock);

    const bool searches = c->sweep.n_rows > 0;

    lock_release(&c->lock);
    return searches;
}

static bool is_resting(const struct cascades *c)
{
    return __atomic_load_n(&c->resting, __ATOMIC_SEQ_CST) ||
           __atomic_load_n(&c->sweep.out->lost, __ATOMIC_SEQ_CST);
}

/* ---- when ---- */

/*
 * Note the stream's position, and whether no more of the log will come.  While the thread
 * rested, nobody saw whether the stream was away: after that, it is to be idle anew.
 */
static void look_at_stream(struct cascades *c)
{
    const uint64_t now = read_position_version(c->opt.reader);
    const int64_t now_ms = clock_mono_ms();
    const bool was_watched = now_ms - c->looked_ms < WATCHED_MS;

    if (now != c->stream || !was_watched || !c->opt.is_at_rest(c->opt.ctx)) {
        c->stream = now;
        c->stream_ms = now_ms;
    }
    c->looked_ms = now_ms;
    c->rests = now_ms - c->stream_ms > REST_AT_MS;
}

/* Go one level at a time, so that one search covers many keys. */
static bool advance(struct cascades *c, struct err *err)
{
    /* In this order: an abandoned ticket says so before it counts itself out. */
    if (is_out(c) || is_resting(c))
        return true;
    if (c->sweep.leaves)
        return finish(c, err);
    if (c->sweep.n == 0)
        gather(c);
    if (c->sweep.n == 0 || !drop_found(c, err))
        return c->sweep.n == 0;
    if (c->sweep.n > 0 && !follow_new(c))
        leave(c);
    return true;
}

bool cascades_sweep(struct cascades *c, bool *waits, struct err *err)
{
    look_at_stream(c);
    if (!cascades_store(c, err))
        return false;
    if (!is_resting(c) && !cascades_restore(c, err))
        return false;
    if (!advance(c, err))
        return false;
    lock_acquire(&c->lock);
    *waits = !is_resting(c) && (gone_set_count(&c->gone) > 0 || c->routings != c->restored);
    lock_release(&c->lock);
    return true;
}
