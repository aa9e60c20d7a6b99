#include "config.h"

#include "tests/fakes/fake_answer.h"

#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "tests/fakes/fake_area.h"
#include "tests/fakes/fake_bulk.h"
#include "tests/fakes/fake_routes.h"
#include "tests/fakes/fake_voice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_RULES_MAX 16

/* A request whose answer never came, to be applied later. */
struct zombie {
    struct zombie *next;
    int64_t due_ms;
    struct str index;
    struct buf body;
};

struct bulk {
    struct fake_search *f;
    struct arena *arena;
    struct fake_bulk parsed;
    struct str index; /* concrete; ptr NULL: the path's name is no alias */
    struct str alias;
    size_t body_len;
    uint64_t number;
    struct fake_rule act; /* what happens to the whole */
    struct fake_rule items[ITEM_RULES_MAX];
    size_t n_items;
};

static bool has_id(const struct bulk *b, const char *id)
{
    for (size_t i = 0; i < b->parsed.n; i++)
        if (str_equal(b->parsed.ops[i].op.id, str_from(id)))
            return true;
    return false;
}

static bool fits(const struct fake_rule *r, const struct bulk *b)
{
    if (r->index != NULL && !str_equal(str_from(r->index), b->index))
        return false;
    if (r->body_max > 0 && b->body_len <= r->body_max)
        return false;
    return r->id == NULL || has_id(b, r->id);
}

/* Counts the request; whether the rule applies to it. */
static bool is_turn_of(struct rule *r)
{
    const unsigned n = ++r->n_seen;

    if (n <= r->is.skip || (r->is.times > 0 && n > r->is.skip + r->is.times))
        return false;
    return r->is.every == 0 || (n - r->is.skip) % r->is.every == 0;
}

static void ask_rules(struct bulk *b)
{
    for (struct rule *r = b->f->rules; r != NULL; r = r->next) {
        if (!fits(&r->is, b) || !is_turn_of(r))
            continue;
        if (r->is.act == FAKE_ANSWER && r->is.status != 0 && b->n_items < ITEM_RULES_MAX) {
            b->items[b->n_items++] = r->is;
            continue;
        }
        b->act = r->is;
        return;
    }
}

static const struct fake_rule *rule_of(const struct bulk *b, struct str id)
{
    for (size_t i = 0; i < b->n_items; i++)
        if (b->items[i].id == NULL || str_equal(id, str_from(b->items[i].id)))
            return &b->items[i];
    return NULL;
}

static void put_cause(struct json_writer *w, const struct fake_rule *r)
{
    json_write_key(w, STR("caused_by"));
    json_open_object(w);
    json_put_cstr(w, STR("type"), r->cause_type);
    json_put_cstr(w, STR("reason"), r->cause_reason);
    json_close_object(w);
}

/* r: it may have a cause; or NULL. */
static void put_error(struct json_writer *w, const char *type, struct str reason,
                      const struct fake_rule *r)
{
    json_write_key(w, STR("error"));
    json_open_object(w);
    json_put_cstr(w, STR("type"), type);
    json_put_string(w, STR("reason"), reason);
    if (r != NULL && r->cause_type != NULL)
        put_cause(w, r);
    json_close_object(w);
}

static void enter_ledger(struct fake_search *f, const struct bulk *b,
                         const struct fake_bulk_op *op, int status)
{
    if (f->n_items == f->items_cap) {
        f->items_cap = f->items_cap == 0 ? 1024 : f->items_cap * 2;
        f->items = mem_resize(f->items, f->items_cap, sizeof(*f->items));
    }
    f->items[f->n_items++] = (struct fake_item){
        .request = b->number,
        .index = fake_search_keep(f, b->index),
        .id = fake_search_keep(f, op->op.id),
        .is_delete = op->op.is_delete,
        .is_update = op->is_update,
        .version = op->op.version,
        .status = status,
    };
}

/* Why item op is not applied: a status, and its error in type and reason.  0: it is. */
static int refusal_of(const struct bulk *b, const struct fake_bulk_op *op, const char **type,
                      struct buf *reason)
{
    const struct fake_rule *r = rule_of(b, op->op.id);

    if (r != NULL && !r->drops) {
        *type = r->type == NULL ? "mapper_parsing_exception" : r->type;
        buf_append(reason, str_from(r->reason == NULL ? "refused by the script" : r->reason));
        return r->status;
    }
    if (b->index.ptr == NULL) {
        *type = "index_not_found_exception";
        buf_printf(reason,
                   "no such index [%.*s] and [require_alias] request flag is [true] and "
                   "[%.*s] is not an alias",
                   STR_ARG(b->alias), STR_ARG(b->alias));
        return 404;
    }
    return 0;
}

/* Engines make an index for deletes with external versions, unless anything else is asked. */
static void make_index_of_deletes(struct bulk *b)
{
    for (size_t i = 0; i < b->parsed.n; i++)
        if (!b->parsed.ops[i].op.is_delete)
            return;
    b->index = str_from(fake_search_keep(b->f, b->alias));
    (void)fake_engine_create(b->f->engine, b->index);
}

static void put_item(struct bulk *b, const struct fake_bulk_op *op, int status,
                     const char *type, struct str reason, struct json_writer *w)
{
    const struct str action = op->is_update      ? STR("update")
                              : op->op.is_delete ? STR("delete")
                                                 : STR("index");

    json_open_object(w);
    json_write_key(w, action);
    json_open_object(w);
    json_put_string(w, STR("_index"), b->index.ptr == NULL ? b->alias : b->index);
    if (b->f->voice != NULL && b->f->voice->tells_types)
        json_put_cstr(w, STR("_type"), "_doc");
    json_put_string(w, STR("_id"), op->op.id);
    json_put_i64(w, STR("status"), status == 0 ? 201 : status); /* 0: a lie is told */
    if (type != NULL)
        put_error(w, type, reason, rule_of(b, op->op.id));
    json_close_object(w);
    json_close_object(w);
}

/* The script of an area.  The item's status; of a refusal, with type and reason. */
static int run_script(struct fake_search *f, struct str index, const struct fake_bulk_op *op,
                      const char **type, struct buf *reason)
{
    struct fake_op write = {.id = op->op.id};
    struct buf source = {0}, next = {0};
    uint64_t version, stored;
    int status = 404;

    *type = "document_missing_exception";
    if (fake_engine_get(f->engine, index, op->op.id, &version, &source)) {
        const enum fake_area what =
            fake_area_update(buf_str(&source), version, op->op.body, &next, reason);

        *type = what == FAKE_AREA_REFUSED ? "illegal_argument_exception" : NULL;
        status = what == FAKE_AREA_REFUSED ? 400 : 200;
        write.body = buf_str(&next);
        if (what == FAKE_AREA_WRITTEN)
            (void)fake_engine_apply(f->engine, index, &write, clock_mono_ms(), &stored);
    }
    buf_free(&source);
    buf_free(&next);
    return status;
}

static bool is_dropped(const struct bulk *b, const struct fake_bulk_op *op)
{
    const struct fake_rule *r = rule_of(b, op->op.id);

    return r != NULL && r->drops && !op->op.is_delete && !op->is_update;
}

/* Engines name the alias then. */
static void drop_item(struct bulk *b, const struct fake_bulk_op *op, struct json_writer *w)
{
    enter_ledger(b->f, b, op, 0);
    json_open_object(w);
    json_write_key(w, STR("index"));
    json_open_object(w);
    json_put_string(w, STR("_index"), b->alias);
    json_put_string(w, STR("_id"), op->op.id);
    json_put_cstr(w, STR("result"), "noop");
    json_put_i64(w, STR("status"), 200);
    json_close_object(w);
    json_close_object(w);
}

/* Decide and apply one item; write its result. */
static void do_item(struct bulk *b, const struct fake_bulk_op *op, bool apply,
                    struct json_writer *w)
{
    struct buf reason = {0};
    const char *type = NULL;
    uint64_t stored = 0;
    int status;

    if (is_dropped(b, op)) {
        drop_item(b, op, w);
        return;
    }
    status = refusal_of(b, op, &type, &reason);
    if (status == 0 && op->is_scripted && apply) {
        status = run_script(b->f, b->index, op, &type, &reason);
    } else if (status == 0 && op->is_update && !op->is_scripted) {
        status = 404;
        type = "document_missing_exception";
    } else if (status == 0 && apply && !op->is_update) {
        status = fake_engine_apply(b->f->engine, b->index, &op->op, clock_mono_ms(), &stored);
        if (status == 409) {
            type = "version_conflict_engine_exception";
            buf_printf(&reason,
                       "[%.*s]: version conflict, current version [%llu] is higher %s the one "
                       "provided [%llu]",
                       STR_ARG(op->op.id), (unsigned long long)stored,
                       op->op.version_type == FAKE_EXTERNAL ? "or equal to" : "than",
                       (unsigned long long)op->op.version);
        }
    }
    if (!op->is_update || op->is_scripted)
        enter_ledger(b->f, b, op, status);
    put_item(b, op, status, type, buf_str(&reason), w);
    buf_free(&reason);
}

/* The number of the op that stands at place i of the answer. */
static size_t op_at(const struct bulk *b, size_t i)
{
    const size_t n = b->parsed.n;

    if (b->act.act == FAKE_ITEMS_MIXED && (i == 0 || i == n - 1))
        return n - 1 - i;
    return i < n ? i : n - 1;
}

static void do_items(struct bulk *b, bool apply, struct buf *out)
{
    struct buf *texts = mem_alloc(b->parsed.n, sizeof(*texts));
    size_t n = b->parsed.n;

    for (size_t i = 0; i < b->parsed.n; i++) {
        struct json_writer w = {.out = &texts[i]};

        do_item(b, &b->parsed.ops[i], apply, &w);
    }
    if (b->act.act == FAKE_ITEM_LESS)
        n--;
    else if (b->act.act == FAKE_ITEM_MORE)
        n++;
    buf_append(out, STR("{\"took\":1,\"errors\":true,\"items\":["));
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        buf_append(out, buf_str(&texts[op_at(b, i)]));
    }
    buf_append(out, STR("]}"));
    for (size_t i = 0; i < b->parsed.n; i++)
        buf_free(&texts[i]);
    free(texts);
}

void fake_refuse(struct fake_http_answer *answer, int status, const char *type,
                 const char *reason)
{
    struct json_writer w = {.out = &answer->body};

    answer->status = status;
    json_open_object(&w);
    put_error(&w, type, str_from(reason), NULL);
    json_put_i64(&w, STR("status"), status);
    json_close_object(&w);
}

static void refuse_whole(const struct bulk *b, struct fake_http_answer *answer)
{
    const struct fake_rule *r = &b->act;

    fake_refuse(answer, r->status, r->type == NULL ? "scripted_exception" : r->type,
                r->reason == NULL ? "refused by the script" : r->reason);
    if (r->page != NULL) {
        buf_clear(&answer->body);
        buf_append(&answer->body, str_from(r->page));
    }
    if (r->retry_after_s > 0)
        buf_printf(&answer->headers, "Retry-After: %u\r\n", r->retry_after_s);
    for (size_t i = 0; i < b->parsed.n; i++)
        if (!b->parsed.ops[i].is_update)
            enter_ledger(b->f, b, &b->parsed.ops[i], 0);
}

static void make_zombie(struct bulk *b, struct str body)
{
    struct zombie *z = mem_alloc(1, sizeof(*z));

    z->due_ms = clock_mono_ms() + b->act.late_ms;
    z->index = arena_copy(b->f->strings, b->index);
    buf_append(&z->body, body);
    z->next = b->f->zombies;
    b->f->zombies = z;
}

static const enum fake_http_end ends[N_FAKE_ACTS] = {
    [FAKE_RESET] = FAKE_HTTP_RESET,
    [FAKE_CUT] = FAKE_HTTP_CUT,
    [FAKE_SILENT] = FAKE_HTTP_SILENT,
    [FAKE_ZOMBIE] = FAKE_HTTP_SILENT,
};

static void answer_bulk(struct bulk *b, struct str body, struct fake_http_answer *answer)
{
    const bool apply = b->act.act == FAKE_ANSWER || b->act.applied;

    answer->end = ends[b->act.act];
    if (b->act.act == FAKE_ZOMBIE)
        make_zombie(b, body);
    if (b->act.act == FAKE_STATUS) {
        refuse_whole(b, answer);
        return;
    }
    if (body.len > b->f->largest_body)
        b->f->largest_body = body.len;
    if (b->index.ptr == NULL && apply)
        make_index_of_deletes(b);
    do_items(b, apply, &answer->body);
    if (b->act.act == FAKE_TRUNCATED)
        answer->body.len /= 2;
}

/* False: it is refused. */
static bool apply_late(struct fake_search *f, struct str index, const struct fake_bulk_op *op)
{
    struct buf reason = {0};
    const char *type;
    uint64_t stored;
    int status = 404;

    if (!fake_engine_exists(f->engine, index))
        return false;
    if (op->is_scripted)
        status = run_script(f, index, op, &type, &reason);
    else if (!op->is_update)
        status = fake_engine_apply(f->engine, index, &op->op, clock_mono_ms(), &stored);
    buf_free(&reason);
    return status < 300;
}

size_t fake_answer_raise_zombies(struct fake_search *f, int64_t until_ms)
{
    size_t n = 0;

    for (struct zombie **at = &f->zombies; *at != NULL;) {
        struct zombie *z = *at;
        struct fake_bulk parsed;
        struct arena *a;

        if (z->due_ms > until_ms) {
            at = &z->next;
            continue;
        }
        a = arena_new();
        if (fake_bulk_parse(buf_str(&z->body), a, &parsed))
            for (size_t i = 0; i < parsed.n; i++)
                n += apply_late(f, z->index, &parsed.ops[i]);
        arena_free(a);
        *at = z->next;
        buf_free(&z->body);
        free(z);
    }
    return n;
}

/* Holds the lock before and after. */
static void wait_until_cleared(struct fake_search *f)
{
    const unsigned before = f->n_cleared;
    bool goes_on = true;

    while (goes_on && f->n_cleared == before) {
        fake_search_unlock(f);
        goes_on = fake_http_sleep(f->http, 5);
        fake_search_lock(f);
    }
}

void fake_answer_bulk(struct fake_search *f, const struct fake_http_request *req,
                      struct str alias, struct fake_http_answer *answer)
{
    struct bulk b = {.f = f, .arena = arena_new(), .alias = alias, .body_len = req->body.len};

    if (!fake_bulk_parse(req->body, b.arena, &b.parsed)) {
        fake_refuse(answer, 400, "action_request_validation_exception", "malformed bulk body");
        arena_free(b.arena);
        return;
    }
    if (alias.len == 0)
        b.alias = b.parsed.ops[0].index;
    fake_search_lock(f);
    b.number = ++f->n_requests;
    if (++f->n_now > f->n_most)
        f->n_most = f->n_now;
    b.index = fake_engine_resolve(f->engine, b.alias);
    ask_rules(&b);
    if (b.act.until_cleared)
        wait_until_cleared(f);
    fake_search_unlock(f);
    if (b.act.delay_ms > 0)
        fake_http_sleep(f->http, b.act.delay_ms);
    fake_search_lock(f);
    b.index = fake_engine_resolve(f->engine, b.alias);
    answer_bulk(&b, req->body, answer);
    f->n_now--;
    fake_search_unlock(f);
    arena_free(b.arena);
}

void fake_answer_forget_zombies(struct fake_search *f)
{
    while (f->zombies != NULL) {
        struct zombie *z = f->zombies;

        f->zombies = z->next;
        buf_free(&z->body);
        free(z);
    }
}
