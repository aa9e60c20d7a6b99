#include "config.h"

#include "rebalance/verify/job.h"
#include "rebalance/verify/part/changed_state.h"

#include "src/base/hex.h"

const char *verify_pass_word(enum verify_pass pass)
{
    static const char *const words[N_VERIFY_PASSES] = {
        [VERIFY_ROWS] = "rows",      [VERIFY_DOCUMENTS] = "documents",
        [VERIFY_LISTED] = "again",   [VERIFY_OVER] = "over",
        [VERIFY_SAMPLE] = "sample",  [VERIFY_CHANGED] = "changed rows",
        [VERIFY_EXCHANGE] = "trees", [VERIFY_REPAIR] = "repair",
    };

    return words[pass];
}

/* A key is bytes, not text. */
static void put_bytes(struct json_writer *w, struct str name, struct str bytes)
{
    struct buf text = {0};
    char digits[2];

    for (size_t i = 0; i < bytes.len; i++) {
        hex_put(digits, (unsigned char)bytes.ptr[i]);
        buf_append(&text, (struct str){digits, sizeof(digits)});
    }
    json_put_string(w, name, buf_str(&text));
    buf_free(&text);
}

static void find_bytes(struct str json, const char *pointer, struct buf *bytes)
{
    struct buf text = {0};

    buf_clear(bytes);
    if (json_find_text(json, pointer, &text))
        for (size_t i = 0; i + 1 < text.len; i += 2)
            buf_append_char(bytes, (char)hex_byte(buf_str(&text), i));
    buf_free(&text);
}

/* ---- how far a check is ---- */

static void put_changed(struct json_writer *w, const struct verify_changed *c)
{
    if (c == NULL || c->tables.len == 0)
        return;
    json_put_raw(w, STR("changed"), buf_str(&c->tables));
    if (!c->has_last)
        return;
    json_write_key(w, STR("last"));
    json_open_object(w);
    put_bytes(w, STR("id"), c->last.id);
    put_bytes(w, STR("key"), c->last.key);
    put_bytes(w, STR("value"), c->last.value);
    json_close_object(w);
}

static void find_changed(struct str json, struct verify_changed *c)
{
    struct buf id = {0}, key = {0}, value = {0};
    struct str found;

    if (c == NULL)
        return;
    verify_changed_clear(c);
    if (json_find(json, "/changed", &found))
        buf_append(&c->tables, found);
    find_bytes(json, "/last/id", &id);
    find_bytes(json, "/last/key", &key);
    find_bytes(json, "/last/value", &value);
    if (json_find(json, "/last", &found))
        verify_changed_keep_last(
            c, &(struct poll_row){buf_str(&id), buf_str(&key), buf_str(&value)});
    buf_free(&id);
    buf_free(&key);
    buf_free(&value);
}

/* ---- all ---- */

static void put_listed(struct json_writer *w, struct str name, const struct verify_result *r)
{
    json_write_key(w, name);
    json_open_object(w);
    verify_result_put(r, w);
    verify_result_put_ids(r, w);
    json_close_object(w);
}

static void find_listed(struct str json, const char *pointer, struct verify_result *r)
{
    struct str found;

    verify_result_free(r);
    *r = (struct verify_result){0};
    if (json_find(json, pointer, &found))
        verify_result_read(r, found);
}

void verify_cursor_write(struct verify_job *j)
{
    struct json_writer w = {.out = &j->cursor};

    buf_clear(&j->cursor);
    json_open_object(&w);
    json_put_u64(&w, STR("pass"), j->at.pass);
    json_put_string(&w, STR("table"), buf_str(&j->at.table));
    put_bytes(&w, STR("after"), buf_str(&j->at.after));
    json_put_u64(&w, STR("slice"), j->at.slice);
    json_put_u64(&w, STR("rows"), j->at.rows);
    json_put_u64(&w, STR("hits"), j->at.hits);
    json_put_u64(&w, STR("total"), j->at.total);
    json_put_u64(&w, STR("from"), j->at.from);
    json_put_u64(&w, STR("began"), (uint64_t)j->at.began_ms);
    json_put_u64(&w, STR("looks"), j->at.looks);
    json_put_u64(&w, STR("lost"), j->at.lost);
    json_put_u64(&w, STR("unnamed"), j->at.unnamed);
    put_changed(&w, j->changed);
    json_put_u64(&w, STR("n_differ"), j->n_differ);
    json_put_bool(&w, STR("refused"), j->is_refused);
    verify_result_put(&j->result, &w);
    put_listed(&w, STR("open"), &j->open);
    put_listed(&w, STR("wrong"), &j->wrong);
    json_close_object(&w);
}

void verify_cursor_read(struct verify_job *j)
{
    const struct str json = buf_str(&j->cursor);
    uint64_t pass = 0, began = 0;

    verify_result_free(&j->result);
    j->result = (struct verify_result){0};
    buf_clear(&j->at.table);
    (void)json_find_u64(json, "/pass", &pass);
    j->at.pass = pass < N_VERIFY_PASSES ? (enum verify_pass)pass : VERIFY_ROWS;
    (void)json_find_text(json, "/table", &j->at.table);
    find_bytes(json, "/after", &j->at.after);
    (void)json_find_u64(json, "/slice", &j->at.slice);
    (void)json_find_u64(json, "/rows", &j->at.rows);
    (void)json_find_u64(json, "/hits", &j->at.hits);
    (void)json_find_u64(json, "/total", &j->at.total);
    (void)json_find_u64(json, "/from", &j->at.from);
    (void)json_find_u64(json, "/began", &began);
    (void)json_find_u64(json, "/looks", &j->at.looks);
    (void)json_find_u64(json, "/lost", &j->at.lost);
    (void)json_find_u64(json, "/unnamed", &j->at.unnamed);
    j->at.began_ms = (int64_t)began;
    find_changed(json, j->changed);
    j->is_refused = false;
    (void)json_find_u64(json, "/n_differ", &j->n_differ);
    (void)json_find_bool(json, "/refused", &j->is_refused);
    verify_result_read(&j->result, json);
    find_listed(json, "/open", &j->open);
    find_listed(json, "/wrong", &j->wrong);
}
