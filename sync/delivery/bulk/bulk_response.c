#include "config.h"

#include "sync/delivery/bulk/bulk_response.h"

#include "src/base/mem.h"
#include "src/format/json.h"

#include <stdlib.h>

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

static void read_id(struct bulk_response *r, struct json_reader *j,
                    const struct bulk_sent *sent)
{
    struct str id;

    if (!json_read_string(j, &id) || json_string_equal(id, sent->id))
        return;
    if (!sent->is_piped)
        json_reader_fail(j, "an item names another document than the one sent");
    else if (r->renamed.len == 0)
        json_unescape(&r->renamed, id);
}

static bool says_noop(struct json_reader *j)
{
    struct str result;

    return json_read_string(j, &result) && str_equal(result, STR("noop"));
}

/* Read {"_index": ..., "_id": ..., "result": ..., "status": ..., "error": ...}. */
static void read_result(struct bulk_response *r, struct json_reader *j, struct bulk_item *item,
                        const struct bulk_sent *sent)
{
    struct str key, index = STR("");
    uint64_t status = 0;
    bool has_id = false, is_noop = false;

    if (!json_enter_object(j))
        return;
    while (json_next_member(j, &key)) {
        if (str_equal(key, STR("_id"))) {
            read_id(r, j, sent);
            has_id = true;
        } else if (str_equal(key, STR("_index"))) {
            if (!json_read_string(j, &index))
                return;
        } else if (str_equal(key, STR("result"))) {
            is_noop = says_noop(j);
        } else if (str_equal(key, STR("status"))) {
            json_read_u64(j, &status);
        } else if (str_equal(key, STR("error"))) {
            item->error = keep_error(r, j);
        }
    }
    if (!has_id || status < 100 || status > 999)
        json_reader_fail(j, "an item has no _id or no status");
    item->status = (int)status;
    item->is_dropped = is_noop && status / 100 == 2 && item->error == 0 &&
                       str_equal(sent->action, STR("index"));
    note_index(r, item, index, sent);
}

/* Read {"index": {...}}, or another action. */
static void read_item(struct bulk_response *r, struct json_reader *j, struct bulk_item *item,
                      const struct bulk_sent *sent)
{
    struct str key;
    unsigned n = 0;

    *item = (struct bulk_item){0};
    if (!json_enter_object(j))
        return;
    while (json_next_member(j, &key)) {
        if (n++ > 0 || !str_equal(key, sent->action))
            json_reader_fail(j, "an item names another action than the one sent");
        else
            read_result(r, j, item, sent);
    }
    if (n == 0)
        json_reader_fail(j, "an item is empty");
}

static size_t read_items(struct bulk_response *r, struct json_reader *j, size_t n,
                         bulk_sent_fn sent, void *ctx)
{
    size_t i = 0;

    if (!json_enter_array(j))
        return 0;
    for (; json_next_element(j); i++) {
        if (i == n) {
            json_reader_fail(j, "the answer has more items than were sent");
            break;
        }

        struct bulk_sent s = sent(ctx, i);

        read_item(r, j, &r->items[i], &s);
    }
    return i;
}

bool bulk_response_read(struct bulk_response *r, struct str body, size_t n, bulk_sent_fn sent,
                        void *ctx, struct err *err)
{
    struct json_reader j;
    struct str key;
    size_t n_items = 0;

    if (r->items_cap < n) {
        r->items = mem_resize(r->items, n, sizeof(*r->items));
        r->items_cap = n;
    }
    r->n_errors = 0;
    buf_clear(&r->texts);
    buf_clear(&r->elsewhere);
    buf_clear(&r->renamed);
    json_reader_init(&j, body);
    if (json_enter_object(&j))
        while (json_next_member(&j, &key))
            if (str_equal(key, STR("items")))
                n_items += read_items(r, &j, n, sent, ctx);
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
