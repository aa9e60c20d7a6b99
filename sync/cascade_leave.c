#include "config.h"

#include "sync/cascade_parts.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "sync/delivery/delivery.h"
#include "sync/document/key.h"
#include "sync/read_position.h"

#include <string.h>

#define REST_AT_MS 12000 /* a stream that stands for so long, with all worked off, is at rest */
#define SLICE      250   /* documents that are handed over at a time */

/* ---- whose rows take others along ---- */

static const struct plan *plan_of(const struct target *target)
{
    return ((const struct reading *)target->plan)->plan;
}

/* The root's table, if its rows go by keys, and others with them; else NULL. */
static const struct cascade_table *leading_root(const struct routing *routing,
                                                const struct target *target)
{
    struct str schema, table;
    bool refresh;

    plan_place(plan_of(target), 0, &schema, &table, &refresh);

    const struct cascade_table *t = cascade_plan_find(routing->cascades, schema, table);

    return t != NULL && t->goes &&
                   (t->on[CASCADE_DELETE].n_steps > 0 || t->on[CASCADE_DELETE].n_blind > 0)
               ? t
               : NULL;
}

bool cascades_lead_on(struct cascades *c, const struct target *target)
{
    struct routing *routing = cascades_routing(c);
    const bool leads = routing != NULL && leading_root(routing, target) != NULL;

    routing_unref(routing);
    return leads;
}

/* ---- what is given up ---- */

static bool is_stopped(const struct target *target)
{
    return __atomic_load_n(&((const struct reading *)target->plan)->stopped, __ATOMIC_RELAXED);
}

static bool is_routed(const struct routing *routing, const struct target *target)
{
    for (size_t i = 0; i < routing->n_targets; i++)
        if (strcmp(routing->targets[i]->index, target->index) == 0)
            return true;
    return false;
}

bool cascades_is_given_up(struct cascades *c, const struct target *target)
{
    struct routing *routing = cascades_routing(c);
    const bool given_up = !is_routed(routing, target) || is_stopped(target);

    routing_unref(routing);
    return given_up;
}

static void mark_steps(struct cascades *c, const struct routing *routing,
                       const struct target *target, const char *reason, unsigned depth)
{
    const struct cascade_table *t = leading_root(routing, target);

    for (size_t i = 0; t != NULL && i < t->on[CASCADE_DELETE].n_steps; i++) {
        const struct target *below = routing->targets[t->on[CASCADE_DELETE].steps[i].target];

        if (strcmp(below->index, target->index) != 0)
            cascades_mark(c, below, reason);
        if (depth < CASCADE_DEPTH_MAX && below != target)
            mark_steps(c, routing, below, reason, depth + 1);
    }
}

/* Some version of its index shows all rows. */
static bool is_whole(const struct routing *routing, const struct target *target)
{
    for (size_t i = 0; i < routing->n_targets; i++) {
        const struct target *t = routing->targets[i];

        if (strcmp(t->table, target->table) == 0 && !is_stopped(t) &&
            !((const struct reading *)t->plan)->filling)
            return true;
    }
    return false;
}

void cascades_mark_below(struct cascades *c, const struct target *target)
{
    struct routing *routing = cascades_routing(c);

    if (!is_whole(routing, target)) {
        struct buf reason = {0};

        buf_printf(&reason,
                   "foreign keys changed rows along with those of %s, whose index %s, so its "
                   "documents do not tell which",
                   target->table,
                   ((const struct reading *)target->plan)->filling ? "is being built"
                                                                   : "takes nothing any more");
        mark_steps(c, routing, target, reason.ptr, 0);
        buf_free(&reason);
    }
    routing_unref(routing);
}

/* ---- documents stay ---- */

void cascades_gone(struct cascades *c, const struct gone_row *row)
{
    pthread_mutex_lock(&c->lock);
    if (c->ahead == NULL || !going_takes(c->ahead, row)) {
        struct going *g = going_new(row);

        g->owner = c;
        g->next = c->ahead;
        c->ahead = g;
    }
    going_add(c->ahead, row);
    pthread_cond_signal(&c->added);
    pthread_mutex_unlock(&c->lock);
}

/* Everything below is over; from any thread. */
static void on_followed(void *ctx, enum outcome worst)
{
    struct going *g = ctx;
    struct cascades *c = g->owner;

    (void)worst;
    pthread_mutex_lock(&c->lock);
    g->next = c->followed;
    c->followed = g;
    c->pending++;
    pthread_cond_signal(&c->added);
    pthread_mutex_unlock(&c->lock);
}

static void on_abandoned(void *ctx)
{
    going_abandon(ctx);
}

/* ---- they lead on ---- */

/* The values that the key has of the columns that k refers to; false: it has not all. */
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

/* What the effect's keys have of the row that has this key as a root. */
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

static void follow_document(struct cascades *c, const struct cascade_origin *from,
                            const struct going *g, size_t i, struct ticket *below)
{
    const struct cascade_effect *effect = &from->table->on[from->cause];
    struct arena *a = arena_new();
    const struct str *keys = root_keys(effect, plan_of(g->target), g->docs[i].key, a);
    struct cascade_hold *holds = arena_alloc(a, effect->n_steps + 1, sizeof(*holds));

    for (size_t s = 0; s < effect->n_steps; s++)
        if (cascade_step_counts(&effect->steps[s], keys))
            holds[s] = (struct cascade_hold){ticket_hold(below), OUTCOME_DELIVERED};
    cascades_add(c, from, keys, holds);
    arena_free(a);
}

/* at_least: as of there they lead on. */
static void follow(struct cascades *c, struct going *g, uint64_t at_least)
{
    struct routing *routing = cascades_routing(c);
    struct ticket *below = ticket_new_cb(on_followed, g);
    const struct cascade_origin from = {.routing = routing,
                                        .table = leading_root(routing, g->target),
                                        .cause = CASCADE_DELETE,
                                        .depth = g->depth,
                                        .at_least = at_least};

    ticket_on_abandon(below, on_abandoned);
    for (size_t i = 0; from.table != NULL && i < g->n; i++)
        follow_document(c, &from, g, i, below);
    ticket_done(below, OUTCOME_DELIVERED);
    routing_unref(routing);
}

/* ---- they are deleted ---- */

static void on_deleted(void *ctx, enum outcome worst)
{
    going_end(ctx, worst);
}

static bool submit_slice(struct cascades *c, const struct going *g, size_t from, size_t n,
                         struct ticket *ticket, struct err *err)
{
    struct doc_write writes[SLICE];

    for (size_t i = 0; i < n; i++)
        writes[i] = (struct doc_write){.target = target_ref(g->target),
                                       .ticket = ticket_ref(ticket),
                                       .op = DOC_DELETE,
                                       .reread = true,
                                       .depth = g->depth,
                                       .version = g->stamp,
                                       .id = g->docs[from + i].id,
                                       .routing = g->docs[from + i].routing,
                                       .key = g->docs[from + i].key};
    if (delivery_submit_until(c->opt.delivery, &c->stop, writes, n, err))
        return true;
    for (size_t i = 0; i < n; i++) {
        ticket_abandon(writes[i].ticket);
        target_unref(writes[i].target);
    }
    return false;
}

static void delete(struct cascades *c, struct going *g)
{
    struct turnstile *t = cascades_turnstile(c, str_from(g->target->index));
    struct ticket *ticket = ticket_new_cb(on_deleted, g);
    struct err err = {0};
    bool ok = true;

    ticket_on_abandon(ticket, on_abandoned);
    ticket_pass(ticket, t, turnstile_enter(t));
    for (size_t i = 0; ok && i < g->n; i += SLICE)
        ok = submit_slice(c, g, i, g->n - i < SLICE ? g->n - i : SLICE, ticket, &err);
    if (ok)
        ticket_done(ticket, OUTCOME_DELIVERED);
    else
        ticket_abandon(ticket);
}

/* ---- when ---- */

static bool give_up(struct cascades *c, struct going *g)
{
    if (!cascades_is_given_up(c, g->target))
        return false;
    cascades_mark_below(c, g->target);
    going_end(g, OUTCOME_DEFERRED);
    return true;
}

/* Where the stream has come to; *rests: nothing more of the log is to come. */
static uint64_t look_at_stream(struct cascades *c, bool *rests)
{
    const uint64_t now = read_position_version(c->opt.reader);

    if (now != c->stream || !c->opt.is_at_rest(c->opt.ctx)) {
        c->stream = now;
        c->stream_ms = clock_mono_ms();
    }
    *rests = clock_mono_ms() - c->stream_ms > REST_AT_MS;
    return now;
}

/* Those that the stream has come to, in a list of their own. */
static struct going *take_ahead(struct cascades *c, uint64_t stream, bool rests, bool *more)
{
    struct going *due = NULL;

    pthread_mutex_lock(&c->lock);
    for (struct going **at = &c->ahead; *at != NULL;) {
        struct going *g = *at;

        if (!rests && stream < g->log_end) {
            at = &g->next;
            continue;
        }
        *at = g->next;
        g->next = due;
        due = g;
    }
    *more = c->ahead != NULL;
    pthread_mutex_unlock(&c->lock);
    return due;
}

static struct going *take_followed(struct cascades *c)
{
    pthread_mutex_lock(&c->lock);

    struct going *g = c->followed;

    if (g != NULL) {
        c->followed = g->next;
        c->pending--;
    }
    pthread_mutex_unlock(&c->lock);
    return g;
}

bool cascades_leave(struct cascades *c)
{
    bool rests, more;
    const uint64_t stream = look_at_stream(c, &rests);
    struct going *g = take_ahead(c, stream, rests, &more);

    while (g != NULL) {
        struct going *next = g->next;

        if (!give_up(c, g))
            follow(c, g, (stream < g->log_end ? stream : g->log_end) + 1);
        g = next;
    }
    while (!stop_is_set(&c->stop) && (g = take_followed(c)) != NULL)
        if (!give_up(c, g))
            delete(c, g);
    return more;
}
