#include "config.h"

#include "sync/change/parts.h"
#include "sync/checkpoint/progress.h"
#include "sync/document/plan.h"

static void bury(struct change_unit *u, const struct err *why)
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

static void emit_delete(struct change_unit *u, struct str id, struct str key,
                        struct str routing, bool strict)
{
    change_emit(
        u, &(struct doc_write){
               .op = DOC_DELETE, .strict = strict, .id = id, .key = key, .routing = routing});
    if (id.len <= WRITE_ID_MAX) /* else it was never there */
        progress_tombstone(u->w->opt.progress, str_from(u->target->index), id, routing,
                           u->at->version);
}

/*
 * The new state of a root row: its document, or that it must be read again, because of its
 * relations or because the image lacks a column of it.
 */
static void write_root(struct change_unit *u, const struct use *use, const struct binding *b)
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
    change_emit(u, &write);
}

static void emit_refresh(struct change_unit *u, struct str id, struct str key,
                         struct str routing)
{
    change_emit(
        u, &(struct doc_write){.op = DOC_REFRESH, .id = id, .key = key, .routing = routing});
}

/* Wherever it lies, it is where its row says now, or nowhere. */
static void refresh_everywhere(struct change_unit *u, struct str id, struct str key)
{
    const struct target *t = u->target;

    for (size_t i = 0; i < t->n_shards; i++) {
        emit_refresh(u, id, key, t->shards[i]);
        progress_tombstone(u->w->opt.progress, str_from(t->index), id, t->shards[i],
                           u->at->version);
    }
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
static void refresh_root(struct change_unit *u, struct images is)
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
 * The images of a root row, with their ids.  Under another routing the engine takes an `_id`
 * for the same document if its shard is the same: what an update leaves is deleted strictly, so
 * that it does not take along what the same event writes.
 */
static void believe_root(struct change_unit *u, const struct use *use, const struct binding *b,
                         struct images is)
{
    struct change_writer *w = u->w;

    if (is.had && !is_same_document(w, is))
        emit_delete(u, buf_str(&w->old_id), buf_str(&w->old_key), buf_str(&w->old_routing),
                    plan_is_routed(use->plan) && u->change->after != NULL);
    else if (is.had && !change_matters(u, use, b))
        return;
    if (is.has)
        write_root(u, use, b);
}

static bool stays(const struct change_unit *u, const struct use *use, const struct binding *b,
                  struct images is)
{
    const struct change_writer *w = u->w;

    return is.had && is.has && str_equal(buf_str(&w->id), buf_str(&w->old_id)) &&
           !u->at->doubtful &&
           !plan_update_moves(use->plan, b, u->change->before, u->change->after);
}

/* Only a read tells where it lies, unless the filter leaves its row out, and nothing where it
 * did. */
static void seek_root(struct change_unit *u, const struct use *use, const struct binding *b,
                      struct images is)
{
    struct change_writer *w = u->w;
    const bool here = stays(u, use, b, is);
    const bool is_found = here && !plan_is_filtered(use->plan);

    if (here && !change_matters(u, use, b))
        return;
    if (is.had && !is_found) {
        refresh_everywhere(u, buf_str(&w->old_id), buf_str(&w->old_key));
        if (w->old_routing.len == 0) /* of one without a place the dead letter is there */
            emit_refresh(u, buf_str(&w->old_id), buf_str(&w->old_key), buf_str(&w->old_id));
    }
    if (!is.has)
        return;
    if (is.had && str_equal(buf_str(&w->id), buf_str(&w->old_id)) && !is_found)
        return; /* it was asked for */
    /* Any place will do where its own column says none: it is moved on from there. */
    emit_refresh(u, buf_str(&w->id), buf_str(&w->key),
                 w->routing.len > 0 ? buf_str(&w->routing) : buf_str(&w->id));
}

/* Counted: it has no document until its parent and root are known. */
static bool has_document(struct change_unit *u, const struct use *use, const struct binding *b,
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

/* No document can be made of the row, unless the filter leaves it out: only a read tells
 * that. */
static void refuse(struct change_unit *u, const struct use *use, const struct err *why)
{
    const struct change_writer *w = u->w;

    if (plan_is_filtered(use->plan) && w->key.len > 0)
        emit_refresh(u, buf_str(&w->id), buf_str(&w->key), buf_str(&w->routing));
    else
        bury(u, why);
}

/* What the row was before made no document, and may have a dead letter: a read takes it
 * back. */
static void take_back(struct change_unit *u)
{
    const struct change_writer *w = u->w;

    if (w->old_key.len > 0)
        emit_refresh(u, buf_str(&w->old_id), buf_str(&w->old_key), buf_str(&w->old_routing));
}

void change_root(struct change_unit *u, const struct use *use, const struct binding *b)
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
    const struct column *lacks = change_find_lacking(u, use, b);

    if (lacks != NULL) {
        change_stop_unknown(u, use, lacks);
        return;
    }
    const bool had = has_document(u, use, b, c->before),
               has = has_document(u, use, b, c->after);
    const struct images is = {
        had && plan_root_id(use->plan, b, c->before, old[0], old[1], old[2], &none),
        has && plan_root_id(use->plan, b, c->after, id[0], id[1], id[2], &err)};

    if (had && !is.had && (is.has || !has || !str_equal(buf_str(&w->id), buf_str(&w->old_id))))
        take_back(u);
    if (has && !is.has)
        refuse(u, use, &err);
    if (plan_is_routed_by_path(use->plan))
        seek_root(u, use, b, is);
    else if (u->at->doubtful || (u->at->packed && plan_is_routed(use->plan)))
        refresh_root(u, is);
    else
        believe_root(u, use, b, is);
}
