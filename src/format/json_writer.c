#include "config.h"

#include "src/format/json.h"

#include "src/base/number.h"

#include <math.h>

static void begin(struct json_writer *w)
{
    if (w->comma)
        buf_append_char(w->out, ',');
    w->comma = true;
}

static void open_with(struct json_writer *w, char c)
{
    begin(w);
    buf_append_char(w->out, c);
    w->comma = false;
}

static void close_with(struct json_writer *w, char c)
{
    buf_append_char(w->out, c);
    w->comma = true;
}

void json_open_object(struct json_writer *w)
{
    open_with(w, '{');
}

void json_close_object(struct json_writer *w)
{
    close_with(w, '}');
}

void json_open_array(struct json_writer *w)
{
    open_with(w, '[');
}

void json_close_array(struct json_writer *w)
{
    close_with(w, ']');
}

void json_write_key(struct json_writer *w, struct str key)
{
    begin(w);
    buf_append_json(w->out, key);
    buf_append_char(w->out, ':');
    w->comma = false;
}

void json_write_string(struct json_writer *w, struct str v)
{
    begin(w);
    buf_append_json(w->out, v);
}

void json_write_raw(struct json_writer *w, struct str v)
{
    begin(w);
    buf_append(w->out, v);
}

void json_write_u64(struct json_writer *w, uint64_t v)
{
    begin(w);
    buf_append_u64(w->out, v);
}

void json_write_i64(struct json_writer *w, int64_t v)
{
    begin(w);
    buf_append_i64(w->out, v);
}

void json_write_double(struct json_writer *w, double v)
{
    char text[NUMBER_MAX];

    if (!isfinite(v)) {
        json_write_null(w);
        return;
    }
    json_write_raw(w, (struct str){text, number_double(text, v)});
}

static void json_write_bool(struct json_writer *w, bool v)
{
    json_write_raw(w, v ? STR("true") : STR("false"));
}

void json_write_null(struct json_writer *w)
{
    json_write_raw(w, STR("null"));
}

void json_put_string(struct json_writer *w, struct str key, struct str v)
{
    json_write_key(w, key);
    json_write_string(w, v);
}

void json_put_cstr(struct json_writer *w, struct str key, const char *v)
{
    if (v == NULL)
        json_put_null(w, key);
    else
        json_put_string(w, key, str_from(v));
}

void json_put_raw(struct json_writer *w, struct str key, struct str v)
{
    json_write_key(w, key);
    json_write_raw(w, v);
}

void json_put_u64(struct json_writer *w, struct str key, uint64_t v)
{
    json_write_key(w, key);
    json_write_u64(w, v);
}

/* Programs whose numbers are doubles read a large one as a text only. */
void json_put_u64_text(struct json_writer *w, struct str key, uint64_t v)
{
    struct buf text = {0};

    buf_append_u64(&text, v);
    json_put_string(w, key, buf_str(&text));
    buf_free(&text);
}

void json_put_i64(struct json_writer *w, struct str key, int64_t v)
{
    json_write_key(w, key);
    json_write_i64(w, v);
}

void json_put_double(struct json_writer *w, struct str key, double v)
{
    json_write_key(w, key);
    json_write_double(w, v);
}

void json_put_bool(struct json_writer *w, struct str key, bool v)
{
    json_write_key(w, key);
    json_write_bool(w, v);
}

void json_put_null(struct json_writer *w, struct str key)
{
    json_write_key(w, key);
    json_write_null(w);
}
