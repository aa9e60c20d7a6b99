#include "config.h"

#include "rebalance/admin/audit.h"

#include "rebalance/state/errands.h"
#include "rebalance/state/parts.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/store/audit.h"

#include <stdio.h>

#define LISTED         100
#define JSON_MAX       ((size_t)32 << 10) /* bytes of a body or an answer that are kept */
#define NAME_MAX_BYTES 255                /* of a key column of the store */
#define TEXT_MAX       2000

static struct str cut(struct str text, size_t max)
{
    return (struct str){text.ptr, text.len < max ? text.len : max};
}

/* JSON as it is, or how long it was. */
static struct str shorten(struct arena *a, struct str json)
{
    char text[48];

    if (json.len <= JSON_MAX)
        return arena_copy(a, json);
    snprintf(text, sizeof(text), "{\"omitted_bytes\":%zu}", json.len);
    return arena_copy(a, str_from(text));
}

/* The ctx of an errand, with the texts in its arena. */
struct audit_note {
    struct store *store;
    struct stored_audit entry;
};

static bool write_note(struct errand *e, struct err *err)
{
    const struct audit_note *n = e->ctx;

    return store_add_audit(n->store, &n->entry, err);
}

static struct stored_audit keep(struct arena *a, const struct coordinator *co,
                                const struct audit_entry *e)
{
    return (struct stored_audit){
        .at_ms = clock_wall_ms(),
        .who = arena_copy(a, cut(e->who, NAME_MAX_BYTES)),
        .node = arena_copy(a, str_from(co->identity.name)),
        .method = arena_copy(a, e->method),
        .target = arena_copy(a, cut(e->target, TEXT_MAX)),
        .reason = arena_copy(a, cut(e->reason, TEXT_MAX)),
        .what = arena_copy(a, e->what),
        .object = arena_copy(a, cut(e->object, NAME_MAX_BYTES)),
        .asked = shorten(a, e->asked),
        .answered = shorten(a, e->answered),
    };
}

void coordinator_note_audit(struct coordinator *co, const struct audit_entry *e)
{
    struct errand *errand = errand_new("the store", sizeof(struct audit_note));
    struct audit_note *n = errand->ctx;
    struct err err = {0};

    *n = (struct audit_note){co->opt.store, keep(errand->arena, co, e)};
    if (!coordinator_ask_store(co, errand, write_note, &err))
        log_failure(LOG_WARN, &err, "the audit log could not keep a change", KV("who", e->who),
                    KV("method", e->method), KV("target", cut(e->target, TEXT_MAX)));
    errand_leave(errand);
}

/* ---- reading ---- */

struct audit_question {
    struct store *store;
    struct audit_filter filter;
    struct stored_audit *list;
    size_t n;
};

static bool read_list(struct errand *e, struct err *err)
{
    struct audit_question *q = e->ctx;

    return store_load_audit(q->store, e->arena, &q->filter, &q->list, &q->n, err);
}

/* An older program may have kept what is no JSON. */
static void put_json(struct json_writer *w, struct str key, struct str json)
{
    struct err ignored;

    if (json.len > 0 && json_valid(json, &ignored))
        json_put_raw(w, key, json);
    else
        json_put_null(w, key);
}

static void append_entry(struct json_writer *w, const struct stored_audit *e)
{
    json_open_object(w);
    json_put_u64(w, STR("id"), e->id);
    coordinator_put_time(w, STR("at"), e->at_ms);
    json_put_string(w, STR("who"), e->who);
    json_put_string(w, STR("node"), e->node);
    json_put_string(w, STR("what"), e->what);
    json_put_string(w, STR("object"), e->object);
    json_put_string(w, STR("method"), e->method);
    json_put_string(w, STR("target"), e->target);
    json_put_string(w, STR("reason"), e->reason);
    put_json(w, STR("asked"), e->asked);
    put_json(w, STR("answered"), e->answered);
    json_close_object(w);
}

static void append_list(struct json_writer *w, const struct audit_question *q, size_t limit)
{
    json_open_object(w);
    json_put_cstr(w, STR("schema"), "millrace/audit/1");
    json_write_key(w, STR("items"));
    json_open_array(w);
    for (size_t i = 0; i < q->n && i < limit; i++)
        append_entry(w, &q->list[i]);
    json_close_array(w);
    if (q->n > limit)
        json_put_u64(w, STR("more_after"), q->list[limit - 1].id);
    json_close_object(w);
}

bool coordinator_list_audit(struct coordinator *co, const struct audit_filter *f,
                            struct buf *json, struct err *err)
{
    const size_t limit = f->limit > 0 ? f->limit : LISTED;
    struct json_writer w = {.out = json};
    struct errand *e = errand_new("the store", sizeof(struct audit_question));
    struct audit_question *q = e->ctx;

    q->store = co->opt.store;
    q->filter = *f;
    q->filter.object = arena_copy(e->arena, f->object);
    q->filter.limit = limit + 1; /* to see whether more follow */

    const bool ok = coordinator_ask_store(co, e, read_list, err);

    if (ok)
        append_list(&w, q, limit);
    errand_leave(e);
    return ok;
}
