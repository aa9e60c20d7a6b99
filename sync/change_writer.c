#include "config.h"

#include "sync/change_writer.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "sync/binlog/row.h"
#include "sync/binlog/row_fill.h"
#include "sync/cascade_parent.h"
#include "sync/delivery/write.h"
#include "sync/document/resolver.h"
#include "sync/progress.h"
#include "sync/reread.h"
#include "sync/resolve_task.h"
#include "sync/routing.h"
#include "sync/set_off.h"
#include "sync/witness.h"

#include <stdlib.h>
#include <string.h>

#define WRITES_MAX  256
#define TEXT_MAX    (1 << 20) /* bytes of bodies that gather before they are handed over */
#define BOUND_MAX   64        /* table maps whose bindings are kept */
#define TASKS_MAX   64
#define REBUILD "millrace index create"

/* How the rows of one table map meet the plans of its uses. */
struct bound {
    struct table_map *map; /* a reference */
    const struct watched *watched;
    struct binding **bindings; /* one for each use; NULL: its table stopped */
    struct str *generated; /* for each column of a row: what the server computes it of; ptr NULL */
    struct cascade_parent *parent; /* NULL: nothing changes with its rows */
};

/* Texts of a gathered write are offsets until the text buffer does not move any more. */
struct gathered {
    struct doc_write write;
    size_t id, key, routing, body;
};

struct change_writer {
    struct change_writer_options opt;
    struct row_reader *rows;
    struct row_fill fill;
    struct bound bound[BOUND_MAX];
    size_t n_bound;
    struct gathered gathered[WRITES_MAX];
    size_t n_gathered;
    struct buf text;
    struct resolve_task *tasks[TASKS_MAX];
    size_t n_tasks;
    struct buf id, key, routing, body;             /* scratch of the new image */
    struct buf old_id, old_key, old_routing, join; /* scratch of the old one */
    struct set_off *off;
};

/* One row change for one index version. */
struct unit {
    struct change_writer *w;
    const struct rows_at *at;
    const struct row_change *change;
    struct target *target;
    struct ticket *ticket;
    bool any; /* it opened a document */
};

struct change_writer *change_writer_new(const struct change_writer_options *opt)
{
    struct change_writer *w = mem_alloc(1, sizeof(*w));

    w->opt = *opt;
    w->rows = row_reader_new();
    w->off = set_off_new(opt->cascades, opt->progress);
    return w;
}

static void free_bound(struct bound *b)
{
    for (size_t i = 0; i < b->watched->n_uses; i++)
        binding_free(b->bindings[i]);
    free(b->bindings);
    free(b->generated);
    cascade_parent_free(b->parent);
    table_map_unref(b->map);
}

void change_writer_forget(struct change_writer *w)
{
    change_writer_flush(w);
    for (size_t i = 0; i < w->n_bound; i++)
        free_bound(&w->bound[i]);
    w->n_bound = 0;
}

void change_writer_free(struct change_writer *w)
{
    if (w == NULL)
        return;
    change_writer_forget(w);
    row_reader_free(w->rows);
    row_fill_fini(&w->fill);
    buf_free(&w->text);
    buf_free(&w->id);
    buf_free(&w->key);
    buf_free(&w->routing);
    buf_free(&w->body);
    buf_free(&w->old_id);
    buf_free(&w->old_key);
    buf_free(&w->old_routing);
    buf_free(&w->join);
    set_off_free(w->off);
    free(w);
}

static bool is_stopped(const struct target *t)
{
    return __atomic_load_n(&((struct reading *)t->plan)->stopped, __ATOMIC_RELAXED);
}

void change_writer_stop(struct change_writer *w, struct target *target, const char *reason,
                        const char *way_out)
{
    if (__atomic_exchange_n(&((struct reading *)target->plan)->stopped, true, __ATOMIC_RELAXED))
        return;
    w->opt.stop_table(w->opt.ctx, target, reason, way_out);
}

static struct str text_at(const struct change_writer *w, size_t at, struct str s)
{
    return (struct str){s.len == 0 ? "" : w->text.ptr + at, s.len};
}

static void hand_over(struct change_writer *w)
{
    struct doc_write writes[WRITES_MAX];
    struct err err = {0};

    if (w->n_gathered == 0)
        return;
    for (size_t i = 0; i < w->n_gathered; i++) {
        const struct gathered *g = &w->gathered[i];

        writes[i] = g->write;
        writes[i].id = text_at(w, g->id, g->write.id);
        writes[i].key = text_at(w, g->key, g->write.key);
        writes[i].routing = text_at(w, g->routing, g->write.routing);
        writes[i].body = text_at(w, g->body, g->write.body);
    }
    if (stop_is_set(w->opt.given_up) ||
        !delivery_submit_until(w->opt.delivery, w->opt.given_up, writes, w->n_gathered, &err))
        for (size_t i = 0; i < w->n_gathered; i++) {
            ticket_abandon(writes[i].ticket);
            target_unref(writes[i].target);
        }
    w->n_gathered = 0;
    buf_clear(&w->text);
}

static void start_task(struct change_writer *w, size_t i)
{
    struct resolve_task *t = w->tasks[i];

    w->tasks[i] = w->tasks[--w->n_tasks];
    if (!reread_resolve(w->opt.reread, t))
        log_debug("a resolve task was dropped while stopping");
}

void change_writer_flush(struct change_writer *w)
{
    hand_over(w);
    while (w->n_tasks > 0)
        start_task(w, 0);
}

static size_t keep(struct change_writer *w, struct str s)
{
    const size_t at = w->text.len;

    buf_append(&w->text, s);
    return at;
}

/*
 * What must be read again is asked for one above its event, where no other body stands (event
 * ends are at least 19 apart): a delete in the same event, of the row that had the key before,
 * must not stand for it.
 */
static uint64_t version_of(const struct unit *u, enum doc_op op)
{
    return u->at->version + (op == DOC_REFRESH);
}

/* The unit keeps its ticket: what it has handed over may be done before its next document. */
static void emit(struct unit *u, const struct doc_write *write)
{
    struct change_writer *w = u->w;

    if (w->n_gathered == WRITES_MAX || w->text.len > TEXT_MAX)
        hand_over(w);

    struct gathered *g = &w->gathered[w->n_gathered++];

    g->write = *write;
    g->write.target = target_ref(u->target);
    g->write.ticket = ticket_ref(u->ticket);
    g->write.version = version_of(u, write->op);
    g->write.commit_ms = u->at->commit_ms;
    g->id = keep(w, write->id);
    g->key = keep(w, write->key);
    g->routing = keep(w, write->routing);
    g->body = keep(w, write->body);
    u->any = true;
}

static void bury(struct unit *u, const struct err *why)
{
    const struct dead_letter_note note = {
        .target = u->target,
        .id = buf_str(&u->w->id),
        .routing = buf_str(&u->w->routing),
        .key = buf_str(&u->w->key),
        .version = u->at->version,
        .op = DOC_INDEX,
        .reason = str_from(why->msg),
        .attempts = 1,
    };

    u->w->opt.dead(u->w->opt.ctx, &note);
    ticket_done(ticket_ref(u->ticket), OUTCOME_DEAD);
    u->any = true;
}

static void emit_delete(struct unit *u, struct str id, struct str key, struct str routing,
                        bool strict)
{
    emit(u, &(struct doc_write){
                .op = DOC_DELETE, .strict = strict, .id = id, .key = key, .routing = routing});
    if (id.len <= WRITE_ID_MAX) /* else it was never there */
        progress_tombstone(u->w->opt.progress, str_from(u->target->index), id, routing,
                           u->at->version);
}

/*
 * The images of a row do not lead to its documents, and nothing else can: the table stops
 * rather than keep a document that is stale.
 */
static void stop_unknown(struct unit *u, const struct use *use, const struct column *lacks)
{
    struct str database, table;
    struct err why = {0};
    bool refresh;

    plan_place(use->plan, use->place, &database, &table, &refresh);
    err_set(&why, ERR_REJECT,
            "binlog_row_image lets `%" STR_FMT "` out of a change of %" STR_FMT ".%" STR_FMT
            ", so the documents that the row was in are not known; fix: set it to FULL in the "
            "server's configuration and in open sessions",
            STR_ARG(lacks->name), STR_ARG(database), STR_ARG(table));
    change_writer_stop(u->w, u->target, why.msg, REBUILD);
}

/* What of the root's key, or of the join columns, an image lacks; NULL: nothing. */
static const struct column *find_lacking(const struct unit *u, const struct use *use,
                                         const struct binding *b)
{
    const struct row_change *c = u->change;
    const struct column *lacks = NULL;

    if (c->before != NULL)
        lacks = plan_find_absent(use->plan, use->place, b, c->before, PLAN_KEY);
    if (lacks == NULL && c->after != NULL)
        lacks = plan_find_absent(use->plan, use->place, b, c->after, PLAN_KEY);
    return lacks;
}

static bool update_matters(const struct unit *u, const struct use *use,
                           const struct binding *b)
{
    const struct row_change *c = u->change;

    return c->unsolved || plan_update_matters(use->plan, use->place, b, c->before, c->after);
}

/*
 * The new state of a root row: its document, or that it must be read again, because of its
 * relations or because the image lacks a column of it.
 */
static void write_root(struct unit *u, const struct use *use, const struct binding *b)
{
    struct change_writer *w = u->w;
    struct doc_write write = {.op = DOC_REFRESH,
                              .id = buf_str(&w->id),
                              .key = buf_str(&w->key),
                              .routing = buf_str(&w->routing)};
    struct err err = {0};

    if (plan_is_flat(use->plan) &&
        plan_find_absent(use->plan, 0, b, u->change->after, PLAN_ROW) == NULL) {
        buf_clear(&w->body);
        if (plan_flat_document(use->plan, b, u->change->after, &w->body, &err)) {
            write.op = DOC_INDEX;
            write.body = buf_str(&w->body);
        } else if (err.kind != ERR_NONE) {
            bury(u, &err);
            return;
        } else {
            emit_delete(u, write.id, write.key, write.routing, false);
            return;
        }
    }
    emit(u, &write);
}

static void emit_refresh(struct unit *u, struct str id, struct str key, struct str routing)
{
    emit(u, &(struct doc_write){.op = DOC_REFRESH, .id = id, .key = key, .routing = routing});
}

/* Which images of a root row have, as far as they tell, a document. */
struct images {
    bool had, has;
};

static bool is_same_document(const struct change_writer *w, struct images is)
{
    return is.had && is.has && str_equal(buf_str(&w->id), buf_str(&w->old_id)) &&
           str_equal(buf_str(&w->routing), buf_str(&w->old_routing));
}

/* Rows of a doubtful shape say only which rows are to be read again. */
static void refresh_root(struct unit *u, struct images is)
{
    struct change_writer *w = u->w;

    if (is.had && !is_same_document(w, is)) {
        emit_refresh(u, buf_str(&w->old_id), buf_str(&w->old_key), buf_str(&w->old_routing));
        progress_tombstone(w->opt.progress, str_from(u->target->index), buf_str(&w->old_id),
                           buf_str(&w->old_routing), u->at->version);
    }
    if (is.has)
        emit_refresh(u, buf_str(&w->id), buf_str(&w->key), buf_str(&w->routing));
}

/*
 * The images of a root row, with their ids.  Under another routing the engine takes an `_id` for
 * the same document if its shard is the same: what an update leaves is deleted strictly, so that
 * it does not take along what the same event writes.
 */
static void believe_root(struct unit *u, const struct use *use, const struct binding *b,
                         struct images is)
{
    struct change_writer *w = u->w;

    if (is.had && !is_same_document(w, is))
        emit_delete(u, buf_str(&w->old_id), buf_str(&w->old_key), buf_str(&w->old_routing),
                    plan_is_routed(use->plan) && u->change->after != NULL);
    else if (is.had && !update_matters(u, use, b))
        return;
    if (is.has)
        write_root(u, use, b);
}

/* Counted: it has no document until its parent and root are known. */
static bool has_document(struct unit *u, const struct use *use, const struct binding *b,
                         const struct value *row)
{
    if (row == NULL)
        return false;
    if (plan_is_rooted(use->plan, b, row))
        return true;
    if (row == u->change->after)
        progress_count_unrooted(u->w->opt.progress);
    return false;
}

/* A key may make no id, before the change or after it; the other one counts all the same. */
static void root_change(struct unit *u, const struct use *use, const struct binding *b)
{
    struct change_writer *w = u->w;
    const struct row_change *c = u->change;
    struct buf *id[] = {&w->id, &w->key, &w->routing},
               *old[] = {&w->old_id, &w->old_key, &w->old_routing};
    struct err err = {0}, none = {0};

    for (size_t i = 0; i < 3; i++) {
        buf_clear(id[i]);
        buf_clear(old[i]);
    }
    const struct column *lacks = find_lacking(u, use, b);

    if (lacks != NULL) {
        stop_unknown(u, use, lacks);
        return;
    }
    const bool had = has_document(u, use, b, c->before),
               has = has_document(u, use, b, c->after);
    const struct images is = {
        had && plan_root_id(use->plan, b, c->before, old[0], old[1], old[2], &none),
        has && plan_root_id(use->plan, b, c->after, id[0], id[1], id[2], &err)};

    if (has && !is.has)
        bury(u, &err);
    if (u->at->doubtful || (u->at->packed && plan_is_routed(use->plan)))
        refresh_root(u, is);
    else
        believe_root(u, use, b, is);
}

/*
 * What of the documents that hold a changed row of that place is read again: an area, from 1,
 * or all (0).  Documents of a version that is being built may not be there yet, and fills would
 * not know of areas that are newer.
 */
static uint8_t area_of(const struct unit *u, size_t place)
{
    const struct reading *reading = u->target->plan;

    return u->target->n_areas == 0 || reading->filling ? 0 : plan_area_of(reading->plan, place);
}

static struct resolve_task *task_for(const struct unit *u, size_t place, bool by_row)
{
    struct change_writer *w = u->w;

    for (size_t i = 0; i < w->n_tasks; i++)
        if (w->tasks[i]->target == u->target && w->tasks[i]->place == place &&
            w->tasks[i]->by_row == by_row) {
            if (w->tasks[i]->n < RESOLVE_MAX)
                return w->tasks[i];
            start_task(w, i);
            break;
        }
    if (w->n_tasks == TASKS_MAX)
        start_task(w, 0);
    return w->tasks[w->n_tasks++] =
               resolve_task_new(target_ref(u->target), place, area_of(u, place), by_row);
}

static void resolve_later(struct unit *u, size_t place, bool by_row, struct str join)
{
    struct resolve_task *t = task_for(u, place, by_row);

    t->at_least = version_of(u, DOC_REFRESH);
    t->commit_ms = u->at->commit_ms;
    resolve_task_add(t, join, ticket_ref(u->ticket));
    u->any = true;
}

/* The documents that hold the row, or did: join is where its image leads. */
static void reach(struct unit *u, const struct use *use, struct str join)
{
    struct change_writer *w = u->w;

    buf_clear(&w->id);
    buf_clear(&w->key);
    buf_clear(&w->routing);
    if (!use->guest &&
        resolver_direct(use->plan, use->place, join, &w->id, &w->key, &w->routing))
        emit(u, &(struct doc_write){.op = DOC_REFRESH,
                                    .area = area_of(u, use->place),
                                    .id = buf_str(&w->id),
                                    .key = buf_str(&w->key),
                                    .routing = buf_str(&w->routing)});
    else
        resolve_later(u, use->place, false, join);
}

/*
 * A row that did not move is joined by what it has now, or by what a later change of it says
 * that it had before: it is looked up by its key.
 */
static bool look_up(struct unit *u, const struct use *use, const struct binding *b)
{
    struct change_writer *w = u->w;
    const struct row_change *c = u->change;
    const bool had = c->before != NULL;

    buf_clear(&w->join);
    buf_clear(&w->old_key);
    if (c->after == NULL ||
        (had && !plan_update_keeps_joins(use->plan, use->place, b, c->before, c->after)) ||
        (had && !resolver_row_key(use->plan, use->place, b, c->before, &w->old_key)) ||
        !resolver_row_key(use->plan, use->place, b, c->after, &w->join))
        return false;
    if (had && !str_equal(buf_str(&w->old_key), buf_str(&w->join)))
        resolve_later(u, use->place, true, buf_str(&w->old_key));
    resolve_later(u, use->place, true, buf_str(&w->join));
    return true;
}

/* The images say what the row is joined by; else it is looked up, or the table stops. */
static bool leads_on(struct unit *u, const struct use *use, const struct binding *b)
{
    const struct column *lacks = find_lacking(u, use, b);

    if (lacks != NULL && !look_up(u, use, b))
        stop_unknown(u, use, lacks);
    return lacks == NULL;
}

static void related_change(struct unit *u, const struct use *use, const struct binding *b)
{
    struct change_writer *w = u->w;
    const struct row_change *c = u->change;
    bool had = false;

    if (c->before != NULL && c->after != NULL && !u->at->doubtful &&
        !update_matters(u, use, b))
        return;
    if (!leads_on(u, use, b))
        return;
    buf_clear(&w->old_key);
    if (c->before != NULL &&
        resolver_join_key(use->plan, use->place, b, c->before, &w->old_key)) {
        had = true;
        reach(u, use, buf_str(&w->old_key));
    }
    buf_clear(&w->join);
    if (c->after != NULL && resolver_join_key(use->plan, use->place, b, c->after, &w->join) &&
        !(had && str_equal(buf_str(&w->join), buf_str(&w->old_key))))
        reach(u, use, buf_str(&w->join));
}

/* ---- rows ---- */

/* Uses of one target follow each other: together they are one unit of account. */
static size_t change_target(struct change_writer *w, const struct rows_at *at,
                            const struct bound *b, size_t first,
                            const struct row_change *change)
{
    const struct watched *t = at->watched;
    struct unit u = {.w = w, .at = at, .change = change, .target = t->uses[first].target};
    const bool stopped = is_stopped(u.target);
    struct cascade_hold *hold = stopped ? NULL : set_off_hold(w->off, u.target);
    size_t i = first;

    u.ticket = set_off_ticket(w->off, u.target);
    if (hold != NULL)
        hold->ticket = ticket_hold(u.ticket);
    for (; i < t->n_uses && t->uses[i].target == u.target; i++) {
        if (stopped || b->bindings[i] == NULL)
            continue;
        if (t->uses[i].place == 0)
            root_change(&u, &t->uses[i], b->bindings[i]);
        else
            related_change(&u, &t->uses[i], b->bindings[i]);
    }
    if (hold != NULL)
        hold->idle = u.any ? OUTCOME_DELIVERED : OUTCOME_FILTERED;
    ticket_done(u.ticket, u.any                  ? OUTCOME_DELIVERED
                          : is_stopped(u.target) ? OUTCOME_DEFERRED
                          : hold != NULL         ? OUTCOME_DELIVERED
                                                 : OUTCOME_FILTERED);
    return i;
}

static void change_all(struct change_writer *w, const struct rows_at *at, const struct bound *b,
                       const struct row_change *change)
{
    set_off_begin(w->off, at, b->parent, change);
    for (size_t i = 0; i < at->watched->n_uses;)
        i = change_target(w, at, b, i, change);
    set_off_follow(w->off);
}

static struct bound *bind(struct change_writer *w, const struct rows_at *at)
{
    for (size_t i = 0; i < w->n_bound; i++)
        if (w->bound[i].map == at->map && w->bound[i].watched == at->watched)
            return &w->bound[i];
    if (w->n_bound == BOUND_MAX)
        free_bound(&w->bound[--w->n_bound]);

    struct bound *b = &w->bound[w->n_bound++];

    *b = (struct bound){.map = table_map_ref((struct table_map *)(uintptr_t)at->map),
                        .watched = at->watched,
                        .bindings = mem_alloc(at->watched->n_uses + 1, sizeof(struct binding *)),
                        .generated = mem_alloc(at->map->n_columns, sizeof(struct str))};
    if (at->watched->cascade != NULL)
        b->parent = cascade_parent_new(at->watched->cascade, at->map->schema);
    for (size_t i = 0; i < at->watched->n_uses; i++) {
        const struct use *use = &at->watched->uses[i];
        struct err err = {0};

        b->bindings[i] = plan_bind(use->plan, use->place, at->map->schema, &err);
        if (b->bindings[i] == NULL)
            change_writer_stop(w, use->target, err.msg, REBUILD);
        else
            binding_mark_generated(b->bindings[i], b->generated);
    }
    return b;
}

static void stop_all(struct change_writer *w, const struct watched *t, const struct err *why)
{
    for (size_t i = 0; i < t->n_uses; i++)
        change_writer_stop(w, t->uses[i].target, why->msg, REBUILD);
}

static void count_row(struct rows_counted *n, enum row_op op)
{
    switch (op) {
    case ROW_INSERT: n->inserts++; break;
    case ROW_UPDATE: n->updates++; break;
    case ROW_DELETE: n->deletes++; break;
    }
}

static void begin(const struct rows_at *at, const struct value *row)
{
    if (at->witness != NULL)
        witness_format(at->witness, at->watched->schema, at->map, row);
    at->begin(at->ctx);
}

struct rows_counted change_writer_rows(struct change_writer *w, const struct rows_at *at)
{
    struct rows_counted counted = {0};
    struct row_change change;
    struct err err = at->map->broken;
    bool first = true;
    int got = -1;

    if (err.kind == ERR_NONE) {
        const struct bound *b = bind(w, at);

        if (row_reader_open(w->rows, at->rows, at->map, &err))
            while ((got = row_reader_next(w->rows, NULL, &change, &err)) == 1) {
                row_fill(&w->fill, &change, at->map->schema, b->generated);
                if (first)
                    begin(at, change.after != NULL ? change.after : change.before);
                first = false;
                count_row(&counted, change.op);
                change_all(w, at, b, &change);
            }
    }
    if (got < 0) {
        stop_all(w, at->watched, &err);
        set_off_lose(w->off, at, err.msg);
    }
    return counted;
}
