#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/utf8.h"
#include "src/format/json.h"

#include <assert.h>

/* Read one value of any type by its own function, following every level; copies it to w. */
static bool copy(struct json_reader *r, struct json_writer *w);

static bool copy_object(struct json_reader *r, struct json_writer *w)
{
    struct buf name = {0};
    struct str key;

    if (!json_enter_object(r))
        return false;
    json_open_object(w);
    while (json_next_member(r, &key)) {
        buf_clear(&name);
        json_unescape(&name, key);
        assert(json_string_equal(key, buf_str(&name)));
        json_write_key(w, buf_str(&name));
        if (!copy(r, w))
            break;
    }
    json_close_object(w);
    buf_free(&name);
    return json_reader_ok(r);
}

static bool copy_array(struct json_reader *r, struct json_writer *w)
{
    if (!json_enter_array(r))
        return false;
    json_open_array(w);
    while (json_next_element(r) && copy(r, w))
        ;
    json_close_array(w);
    return json_reader_ok(r);
}

static bool copy_string(struct json_reader *r, struct json_writer *w)
{
    struct buf text = {0};
    bool ok = json_read_text(r, &text);

    if (ok) {
        assert(utf8_valid(buf_str(&text)));
        json_write_string(w, buf_str(&text));
    }
    buf_free(&text);
    return ok;
}

static bool copy(struct json_reader *r, struct json_writer *w)
{
    struct str raw;

    switch (json_peek(r)) {
    case JSON_OBJECT: return copy_object(r, w);
    case JSON_ARRAY: return copy_array(r, w);
    case JSON_STRING: return copy_string(r, w);
    case JSON_NUMBER:
    case JSON_BOOL:
    case JSON_NULL:
    case JSON_NONE: break;
    }
    if (!json_read_raw(r, &raw))
        return false;
    json_write_raw(w, raw);
    return true;
}

/* Skipping and reading agree on what is JSON, and a copy is JSON again. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str text = {(const char *)bytes, len};
    struct buf out = {0}, again = {0};
    struct json_writer w = {.out = &out};
    struct json_writer w2 = {.out = &again};
    struct json_reader r;
    struct err err = {0};
    bool valid = json_valid(text, &err);

    json_reader_init(&r, text);
    copy(&r, &w);
    assert(json_reader_finish(&r, &err) == valid);
    if (valid) {
        assert(json_valid(buf_str(&out), &err));
        json_reader_init(&r, buf_str(&out));
        copy(&r, &w2);
        assert(str_equal(buf_str(&out), buf_str(&again)));
    }

    struct str raw;

    json_find(text, "/a/0/b", &raw);
    buf_free(&out);
    buf_free(&again);
    return 0;
}
