#include "config.h"

#include "rebalance/alarm/book_text.h"

#include "rebalance/alarm/book_parts.h"
#include "src/format/json.h"

void alarm_book_append(const struct alarm_book *b, struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/alarm-book/1");
    json_write_key(&w, STR("items"));
    json_open_array(&w);
    for (size_t i = 0; i < b->n; i++) {
        const struct alarm_entry *e = b->entries[i];

        if (!e->is_open)
            continue;
        json_open_object(&w);
        json_put_cstr(&w, STR("code"), e->code);
        json_put_cstr(&w, STR("object"), e->object);
        json_put_string(&w, STR("text"), buf_str(&e->text));
        json_put_string(&w, STR("fix"), buf_str(&e->fix));
        json_put_bool(&w, STR("failure"), e->was_failure_said);
        json_put_u64(&w, STR("n"), e->n_said);
        json_put_i64(&w, STR("since_ms"), e->since_ms);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
}

/* A member that is missing is empty or 0. */
static void load_entry(struct alarm_book *b, struct str json, int64_t now_ms)
{
    struct buf code = {0}, object = {0};
    uint64_t n = 1, since_ms = 0;

    if (json_find_text(json, "/code", &code) && json_find_text(json, "/object", &object)) {
        struct alarm_entry *e = alarm_book_add(b, buf_str(&code), buf_str(&object));

        (void)json_find_text(json, "/text", &e->text);
        (void)json_find_text(json, "/fix", &e->fix);
        (void)json_find_bool(json, "/failure", &e->is_failure);
        (void)json_find_u64(json, "/n", &n);
        (void)json_find_u64(json, "/since_ms", &since_ms);
        e->was_failure_said = e->is_failure;
        e->n = e->n_said = (size_t)n;
        e->since_ms = (int64_t)since_ms;
        e->first_ms = e->seen_ms = e->said_ms = now_ms;
        e->is_open = true;
    }
    buf_free(&code);
    buf_free(&object);
}

bool alarm_book_load(struct alarm_book *b, struct str json, int64_t now_ms, struct err *err)
{
    struct json_reader r;
    struct str items, item;

    if (!json_valid(json, err))
        return false;
    if (!json_find(json, "/items", &items))
        return err_set(err, ERR_REJECT, "has no items");
    json_reader_init(&r, items);
    if (json_enter_array(&r))
        while (b->n < b->limits.open_max && json_next_element(&r) && json_read_raw(&r, &item))
            load_entry(b, item, now_ms);
    return json_reader_ok(&r) || err_set(err, ERR_REJECT, "its items are no list");
}
