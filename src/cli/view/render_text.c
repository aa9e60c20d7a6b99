#include "config.h"

#include "src/cli/view/render.h"

#include "src/base/buf.h"
#include "src/format/json.h"

#include <string.h>
#include <strings.h>

static void indent(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_append_char(out, ' ');
}

/* ---- YAML ---- */

static bool is_plain_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || c == '.' || c == '/';
}

/* True if every YAML reader takes s as a string without quotes. */
static bool is_plain(struct str s)
{
    static const char *const taken[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};

    if (s.len == 0 || !((s.ptr[0] >= 'a' && s.ptr[0] <= 'z') || s.ptr[0] == '_' ||
                        (s.ptr[0] >= 'A' && s.ptr[0] <= 'Z')))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!is_plain_char(s.ptr[i]))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        if (str_equal_any_case(s, str_from(taken[i])))
            return false;
    return true;
}

/* Append what is between the quotes of a JSON string, as YAML. */
static void add_string(struct buf *out, struct str raw)
{
    struct buf text = {0};

    json_unescape(&text, raw);
    if (is_plain(buf_str(&text)))
        buf_append(out, buf_str(&text));
    else
        buf_append_json(out, buf_str(&text));
    buf_free(&text);
}

static void add_yaml(struct buf *out, struct json_reader *r, size_t depth, bool after_dash);

static void start_line(struct buf *out, size_t depth, bool *same_line)
{
    if (!*same_line) {
        buf_append_char(out, '\n');
        indent(out, depth * 2);
    }
    *same_line = false;
}

static void add_members(struct buf *out, struct json_reader *r, size_t depth, bool same_line)
{
    struct str key;
    bool any = false;

    json_enter_object(r);
    for (; json_next_member(r, &key); any = true) {
        start_line(out, depth, &same_line);
        add_string(out, key);
        buf_append_char(out, ':');
        add_yaml(out, r, depth + 1, false);
    }
    if (!any)
        buf_append(out, same_line ? STR("{}") : STR(" {}"));
}

static void add_elements(struct buf *out, struct json_reader *r, size_t depth, bool same_line)
{
    bool any = false;

    json_enter_array(r);
    for (; json_next_element(r); any = true) {
        start_line(out, depth, &same_line);
        buf_append(out, STR("- "));
        add_yaml(out, r, depth + 1, true);
    }
    if (!any)
        buf_append(out, same_line ? STR("[]") : STR(" []"));
}

/* Append the next value, after "key:" or "- ". */
static void add_yaml(struct buf *out, struct json_reader *r, size_t depth, bool after_dash)
{
    enum json_type type = json_peek(r);
    struct str raw;

    if (type == JSON_OBJECT) {
        add_members(out, r, depth, after_dash);
    } else if (type == JSON_ARRAY) {
        add_elements(out, r, depth, after_dash);
    } else if (json_read_raw(r, &raw)) {
        if (!after_dash)
            buf_append_char(out, ' ');
        if (type == JSON_STRING)
            add_string(out, (struct str){raw.ptr + 1, raw.len - 2});
        else
            buf_append(out, raw);
    }
}

void render_yaml(struct buf *out, struct str json)
{
    struct json_reader r;

    json_reader_init(&r, json);
    add_yaml(out, &r, 0, true);
    buf_append_char(out, '\n');
}

/* ---- JSON ---- */

static void add_json(struct buf *out, struct json_reader *r, size_t depth);

static void new_line(struct buf *out, size_t depth)
{
    buf_append_char(out, '\n');
    indent(out, depth * 2);
}

static void add_json_object(struct buf *out, struct json_reader *r, size_t depth)
{
    struct str key;
    bool any = false;

    buf_append_char(out, '{');
    json_enter_object(r);
    for (; json_next_member(r, &key); any = true) {
        if (any)
            buf_append_char(out, ',');
        new_line(out, depth + 1);
        buf_printf(out, "\"%" STR_FMT "\": ", STR_ARG(key));
        add_json(out, r, depth + 1);
    }
    if (any)
        new_line(out, depth);
    buf_append_char(out, '}');
}

static void add_json_array(struct buf *out, struct json_reader *r, size_t depth)
{
    bool any = false;

    buf_append_char(out, '[');
    json_enter_array(r);
    for (; json_next_element(r); any = true) {
        if (any)
            buf_append_char(out, ',');
        new_line(out, depth + 1);
        add_json(out, r, depth + 1);
    }
    if (any)
        new_line(out, depth);
    buf_append_char(out, ']');
}

static void add_json(struct buf *out, struct json_reader *r, size_t depth)
{
    enum json_type type = json_peek(r);
    struct str raw;

    if (type == JSON_OBJECT)
        add_json_object(out, r, depth);
    else if (type == JSON_ARRAY)
        add_json_array(out, r, depth);
    else if (json_read_raw(r, &raw))
        buf_append(out, raw);
}

void render_json(struct buf *out, struct str json)
{
    struct json_reader r;

    json_reader_init(&r, json);
    add_json(out, &r, 0);
    buf_append_char(out, '\n');
}
