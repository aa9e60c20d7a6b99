#include "config.h"

#include "sync/delivery/bulk/bulk_response.h"

#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/format/json.h"

#include <stdlib.h>
#include <string.h>

#define REASON_MAX 2000
#define CAUSES_MAX 4

/*
 * Offsets of an error's texts in bulk_response.texts, which moves as it grows: the first begins
 * at `begin`, each ends at its field.
 */
struct bulk_error_place {
    size_t begin, type, reason, cause_type, cause_reason;
};

/* Where to append an error's texts.  The causes may be NULL: not wanted. */
struct error_texts {
    struct buf *type, *reason;
    struct buf *cause_type, *cause_reason; /* of the innermost cause */
};

/* Cut b to at most len bytes, between two characters. */
static void cut(struct buf *b, size_t len)
{
    if (b->len <= len)
        return;
    while (len > 0 && ((unsigned char)b->ptr[len] & 0xC0) == 0x80)
        len--;
    b->len = len;
    b->ptr[len] = '\0';
}

/* Keep the text of the innermost cause so far. */
static void keep_cause(struct buf *cause, struct str text)
{
    if (cause == NULL)
        return;
    buf_clear(cause);
    buf_append(cause, text);
    cut(cause, REASON_MAX);
}

static void read_reason(struct json_reader *j, const struct error_texts *e, unsigned depth,
                        bool is_innermost)
{
    if (depth > 0)
        buf_append(e->reason, STR(": "));

    const size_t from = e->reason->len;

    json_read_text(j, e->reason);
    if (is_innermost)
        keep_cause(e->cause_reason, (struct str){e->reason->ptr + from, e->reason->len - from});
    cut(e->reason, REASON_MAX);
}

static void read_type(struct json_reader *j, const struct error_texts *e, unsigned depth,
                      bool is_innermost)
{
    struct buf type = {0};

    json_read_text(j, depth == 0 ? e->type : &type);
    if (is_innermost)
        keep_cause(e->cause_type, buf_str(&type));
    buf_free(&type);
}

/*
 * Read {"type": ..., "reason": ..., "caused_by": {...}}, or a string.  Appends the reasons,
 * outermost first.
 */
static void read_error(struct json_reader *j, const struct error_texts *e, unsigned depth)
{
    bool is_innermost = depth > 0;
    struct str key;

    if (json_peek(j) == JSON_STRING) {
        json_read_text(j, e->reason);
        return;
    }
    if (!json_enter_object(j))
        return;
    if (is_innermost) {
        keep_cause(e->cause_type, STR(""));
        keep_cause(e->cause_reason, STR(""));
    }
    while (json_next_member(j, &key)) {
        const enum json_type what = json_peek(j);

        if (what == JSON_STRING && json_string_equal(key, STR("type"))) {
            read_type(j, e, depth, is_innermost);
        } else if (what == JSON_STRING && json_string_equal(key, STR("reason"))) {
            read_reason(j, e, depth, is_innermost);
        } else if (what == JSON_OBJECT && depth < CAUSES_MAX &&
                   json_string_equal(key, STR("caused_by"))) {
            read_error(j, e, depth + 1);
            is_innermost = false;
        }
    }
}

/* Returns the offset of its end. */
static size_t append_text(struct bulk_response *r, const struct buf *text)
{
    buf_append(&r->texts, buf_str(text));
    return r->texts.len;
}

/* Keep the error at the reader's place.  Returns its number. */
static uint32_t keep_error(struct bulk_response *r, struct json_reader *j)
{
    const struct error_texts e = {&r->type, &r->reason, &r->cause_type, &r->cause_reason};

    buf_clear(&r->type);
    buf_clear(&r->reason);
    buf_clear(&r->cause_type);
    buf_clear(&r->cause_reason);
    read_error(j, &e, 0);
    if (r->n_errors == r->errors_cap) {
        r->errors_cap = r->errors_cap == 0 ? 16 : r->errors_cap * 2;
        r->errors = mem_resize(r->errors, r->errors_cap, sizeof(*r->errors));
    }

    struct bulk_error_place *place = &r->errors[r->n_errors++];

    place->begin = r->texts.len;
    place->type = append_text(r, &r->type);
    place->reason = append_text(r, &r->reason);
    place->cause_type = append_text(r, &r->cause_type);
    place->cause_reason = append_text(r, &r->cause_reason);
    return (uint32_t)r->n_errors;
}

/* A failed item may name the index or alias that was requested instead. */
static void note_index(struct bulk_response *r, const struct bulk_item *item, struct str index,
                       const struct bulk_sent *sent)
{
    const bool is_known = (item->error == 0 && !item->is_dropped) || item->status == 409;

    if (is_known && index.len > 0 && sent->index.len > 0 && r->elsewhere.len == 0 &&
        !json_string_equal(index, sent->index))
        buf_append(&r->elsewhere, index);
}

/* One item as the answer has it; strings are raw. */
struct told {
    struct str action, id, index;
    int status;
    bool is_noop;
    uint32_t error;
};

static bool says_noop(struct json_reader *j)
{
    struct str result;

    return json_read_string(j, &result) && str_equal(result, STR("noop"));
}

/* Read {"_index": ..., "_id": ..., "result": ..., "status": ..., "error": ...}. */
static void read_result(struct bulk_response *r, struct json_reader *j, struct told *told)
{
    struct str key;
    uint64_t status = 0;

    if (!json_enter_object(j))
        return;
    while (json_next_member(j, &key)) {
        if (str_equal(key, STR("_id")))
            (void)json_read_string(j, &told->id);
        else if (str_equal(key, STR("_index")))
            (void)json_read_string(j, &told->index);
        else if (str_equal(key, STR("result")))
            told->is_noop = says_noop(j);
        else if (str_equal(key, STR("status")))
            json_read_u64(j, &status);
        else if (str_equal(key, STR("error")))
            told->error = keep_error(r, j);
    }
    if (told->id.ptr == NULL || status < 100 || status > 999)
        json_reader_fail(j, "an item has no _id or no status");
    told->status = (int)status;
}

/* Read {"index": {...}}, or another action. */
static void read_item(struct bulk_response *r, struct json_reader *j, struct told *told)
{
    struct str key;

    *told = (struct told){.index = STR("")};
    if (!json_enter_object(j))
        return;
    while (json_next_member(j, &key)) {
        if (told->action.ptr != NULL) {
            json_reader_fail(j, "an item names two actions");
            return;
        }
        told->action = key;
        read_result(r, j, told);
    }
    if (told->action.ptr == NULL)
        json_reader_fail(j, "an item is empty");
}

/* The actions of a request, in order, and which of them were answered. */
struct actions {
    bulk_sent_fn sent;
    void *ctx;
    size_t n;
    struct map *by_id; /* those behind a pipeline, counted from 1; NULL: not needed yet */
};

static bool is_answer_to(const struct told *told, const struct bulk_sent *sent)
{
    return str_equal(told->action, sent->action) && json_string_equal(told->id, sent->id);
}

static void list_piped(struct actions *a)
{
    a->by_id = map_new();
    for (size_t i = 0; i < a->n; i++) {
        const struct bulk_sent s = a->sent(a->ctx, i);

        if (s.is_piped)
            (void)map_put(a->by_id, s.id, (void *)(uintptr_t)(i + 1));
    }
}

/* Several documents may have one id, each with a routing of its own. */
static size_t find_unanswered(const struct bulk_response *r, const struct actions *a,
                              const struct told *told, size_t otherwise)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct bulk_sent s = a->sent(a->ctx, i);

        if (r->items[i].status == 0 && s.is_piped && is_answer_to(told, &s))
            return i;
    }
    return otherwise;
}

/*
 * Engines tell what pipelines dropped or refused in the order in which they did so.  Returns
 * the number of the action that an item out of its place answers, or a->n: none.
 */
static size_t find_action(const struct bulk_response *r, struct actions *a,
                          const struct told *told)
{
    struct buf id = {0};

    if (a->by_id == NULL)
        list_piped(a);
    json_unescape(&id, told->id);

    const uintptr_t found = (uintptr_t)map_find(a->by_id, buf_str(&id));

    buf_free(&id);
    if (found == 0)
        return a->n;
    return r->items[found - 1].status == 0 ? found - 1 : find_unanswered(r, a, told, found - 1);
}

static void keep_item(struct bulk_response *r, struct json_reader *j, const struct told *told,
                      size_t i, const struct bulk_sent *sent)
{
    struct bulk_item *item = &r->items[i];

    if (item->status != 0)
        json_reader_fail(j, "an action is answered twice");
    *item = (struct bulk_item){.status = told->status,
                               .error = told->error,
                               .is_dropped = told->is_noop && told->error == 0 &&
                                             told->status / 100 == 2 &&
                                             str_equal(sent->action, STR("index"))};
    note_index(r, item, told->index, sent);
}

/* told stands at place i. */
static void take_item(struct bulk_response *r, struct json_reader *j, struct actions *a,
                      const struct told *told, size_t i)
{
    struct bulk_sent sent = a->sent(a->ctx, i);
    const bool is_here = is_answer_to(told, &sent) && r->items[i].status == 0;

    if (!is_here && sent.is_piped && str_equal(told->action, sent.action)) {
        i = find_action(r, a, told);
        if (i == a->n) {
            buf_clear(&r->renamed);
            json_unescape(&r->renamed, told->id);
            return;
        }
        sent = a->sent(a->ctx, i);
    }
    if (is_answer_to(told, &sent))
        keep_item(r, j, told, i, &sent);
    else
        json_reader_fail(j, "an item names another action or document than the one sent");
}

static size_t read_items(struct bulk_response *r, struct json_reader *j, struct actions *a)
{
    size_t i = 0;

    if (!json_enter_array(j))
        return 0;
    for (; json_next_element(j); i++) {
        struct told told;

        if (i == a->n) {
            json_reader_fail(j, "the answer has more items than were sent");
            break;
        }
        read_item(r, j, &told);
        if (json_reader_ok(j))
            take_item(r, j, a, &told, i);
    }
    return i;
}

/* Forget the last answer. */
static void begin(struct bulk_response *r, size_t n)
{
    if (r->items_cap < n) {
        r->items = mem_resize(r->items, n, sizeof(*r->items));
        r->items_cap = n;
    }
    if (n > 0)
        memset(r->items, 0, n * sizeof(*r->items));
    r->n_errors = 0;
    buf_clear(&r->texts);
    buf_clear(&r->elsewhere);
    buf_clear(&r->renamed);
}

bool bulk_response_read(struct bulk_response *r, struct str body, size_t n, bulk_sent_fn sent,
                        void *ctx, struct err *err)
{
    struct actions actions = {.sent = sent, .ctx = ctx, .n = n};
    struct json_reader j;
    struct str key;
    size_t n_items = 0;

    begin(r, n);
    json_reader_init(&j, body);
    if (json_enter_object(&j))
        while (json_next_member(&j, &key))
            if (str_equal(key, STR("items")))
                n_items += read_items(r, &j, &actions);
    map_free(actions.by_id, NULL);
    if (!json_reader_finish(&j, err)) {
        err->kind = ERR_RETRY;
        return err_wrap(err, "bulk answer of %zu bytes", body.len);
    }
    if (n_items != n)
        return err_set(err, ERR_RETRY, "bulk answer has %zu items for %zu actions", n_items, n);
    return true;
}

void bulk_response_free(struct bulk_response *r)
{
    free(r->items);
    free(r->errors);
    buf_free(&r->texts);
    buf_free(&r->elsewhere);
    buf_free(&r->renamed);
    buf_free(&r->type);
    buf_free(&r->reason);
    buf_free(&r->cause_type);
    buf_free(&r->cause_reason);
    *r = (struct bulk_response){0};
}

static struct str text_of(const struct bulk_response *r, size_t from, size_t to)
{
    return (struct str){r->texts.ptr + from, to - from};
}

struct bulk_error bulk_response_error(const struct bulk_response *r, size_t i)
{
    const struct str none = STR("");

    if (r->items[i].error == 0)
        return (struct bulk_error){none, none, none, none};

    const struct bulk_error_place *place = &r->errors[r->items[i].error - 1];

    return (struct bulk_error){
        .type = text_of(r, place->begin, place->type),
        .reason = text_of(r, place->type, place->reason),
        .cause_type = text_of(r, place->reason, place->cause_type),
        .cause_reason = text_of(r, place->cause_type, place->cause_reason),
    };
}

/* The front end of AWS answers {"message": ...}. */
static void read_refusal(struct json_reader *j, struct str key, struct buf *type,
                         struct buf *reason)
{
    const enum json_type what = json_peek(j);

    if (str_equal(key, STR("error")) && (what == JSON_OBJECT || what == JSON_STRING)) {
        read_error(j, &(struct error_texts){.type = type, .reason = reason}, 0);
    } else if (str_equal_any_case(key, STR("message")) && what == JSON_STRING) {
        json_read_text(j, reason);
        cut(reason, REASON_MAX);
    }
}

void bulk_response_refusal(struct str body, struct buf *type, struct buf *reason)
{
    const size_t from = reason->len;
    struct json_reader j;
    struct str key;

    json_reader_init(&j, body);
    if (json_peek(&j) == JSON_OBJECT && json_enter_object(&j))
        while (json_next_member(&j, &key))
            read_refusal(&j, key, type, reason);
    if (type->len == 0 && reason->len == from)
        buf_append(reason, (struct str){body.ptr, body.len < 200 ? body.len : 200});
}
