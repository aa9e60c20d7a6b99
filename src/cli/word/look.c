#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/session.h"
#include "src/format/json.h"

#include <string.h>

static const char *list_of(const struct invocation *inv)
{
    const char *list = invocation_value(inv, "list");

    return list != NULL ? list : "ext";
}

static void add_table(struct buf *out, struct render_style style, struct str json,
                      const char *pointer, const char *none,
                      const struct render_column *columns, size_t n)
{
    struct str items;

    if (!json_find(json, pointer, &items))
        return;
    if (items.len <= 2)
        buf_printf(out, "%s\n", none);
    else
        render_table(out, style, items, columns, n);
}

static void view_words(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"WORD", "/word", RENDER_TEXT},
        {"STATE", "/state", RENDER_TEXT},
        {"ADDED", "/added", RENDER_TEXT},
        {"PUBLISHED", "/published", RENDER_TEXT},
    };
    struct buf last = {0};

    add_table(out, style, json, "/items", "no words", columns, ARRAY_LEN(columns));
    if (json_find_text(json, "/more_after", &last))
        buf_printf(out, "there are more: --after '%s'\n", last.ptr);
    buf_free(&last);
}

int command_word_list(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};
    struct err err = {0};
    uint64_t n;

    if (!invocation_number(inv, "limit", &n, &err))
        return command_usage(inv, &err);
    call_path(&call, "/api/v1/words");
    call_param(&call, "list", list_of(inv));
    call_param(&call, "part", inv->n_args > 0 ? inv->args[0] : NULL);
    call_param(&call, "state", invocation_value(inv, "state"));
    call_param(&call, "limit", invocation_value(inv, "limit"));
    call_param(&call, "after", invocation_value(inv, "after"));
    return session_run(inv, &call, view_words);
}

static void view_word(struct buf *out, struct render_style style, struct str json)
{
    struct str item;

    (void)style;
    if (json_find(json, "/items/0", &item))
        render_yaml(out, item);
}

int command_word_get(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    call_path(&call, "/api/v1/words");
    call_segment(&call, list_of(inv));
    call_segment(&call, inv->args[0]);
    return session_run(inv, &call, view_word);
}

/* ---- export ---- */

/* Print the words as they are; for JSON, wrap them in an object as one string. */
static int put_words(const struct invocation *inv, struct str text)
{
    const char *form = invocation_value(inv, "output");
    struct buf out = {0};
    struct json_writer w = {.out = &out};
    int code;

    if (form == NULL || strcmp(form, "json") != 0)
        return session_put(text);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/word-export/1");
    json_put_cstr(&w, STR("list"), list_of(inv));
    json_put_string(&w, STR("text"), text);
    json_close_object(&w);
    buf_append_char(&out, '\n');
    code = session_put(buf_str(&out));
    buf_free(&out);
    return code;
}

int command_word_export(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};
    struct session *s = NULL;
    struct buf answer = {0};
    struct err err = {0};
    int code;

    if (!session_open(&s, inv, &err))
        return command_fail(&err);
    call_path(&call, "/api/v1/words/export");
    call_param(&call, "list", list_of(inv));
    call_param(&call, "state", invocation_value(inv, "state"));
    code = session_ask(s, &call, &answer);
    if (code == EXIT_DONE)
        code = put_words(inv, buf_str(&answer));
    session_close(s);
    buf_free(&answer);
    return code;
}

/* ---- status, and a try ---- */

static void view_status(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column lists[] = {
        {"LIST", "/list", RENDER_TEXT},           {"PUBLISHED", "/published", RENDER_COUNT},
        {"NOT PUBLISHED", "/init", RENDER_COUNT}, {"CHANGED", "/changed", RENDER_TEXT},
        {"ETAG", "/etag", RENDER_SPARE},
    };
    static const struct render_column pulls[] = {
        {"PULLED BY", "/address", RENDER_TEXT}, {"LIST", "/list", RENDER_TEXT},
        {"HAS ALL", "/current", RENDER_YES},    {"ASKED", "/asked", RENDER_TEXT},
        {"PULLED", "/pulled", RENDER_TEXT},
    };
    static const struct render_column tables[] = {
        {"TABLE", "/table", RENDER_TEXT},
        {"INDEX", "/index", RENDER_TEXT},
        {"VERSION", "/version", RENDER_COUNT},
        {"BUILT", "/built", RENDER_TEXT},
        {"BEFORE THE WORDS", "/older_than_words", RENDER_YES},
    };

    add_table(out, style, json, "/lists", "no lists", lists, ARRAY_LEN(lists));
    buf_append_char(out, '\n');
    add_table(out, style, json, "/pulls", "nobody has asked this node for a list", pulls,
              ARRAY_LEN(pulls));
    buf_append_char(out, '\n');
    add_table(out, style, json, "/tables", "no table uses the IK analyzer", tables,
              ARRAY_LEN(tables));
}

int command_word_status(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    call_path(&call, "/api/v1/words/status");
    return session_run(inv, &call, view_status);
}

static void view_try(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"TOKEN", "/token", RENDER_TEXT},
        {"FROM", "/start", RENDER_COUNT},
        {"TO", "/end", RENDER_COUNT},
        {"TYPE", "/type", RENDER_TEXT},
    };

    add_table(out, style, json, "/tokens", "no tokens", columns, ARRAY_LEN(columns));
}

int command_word_try(const struct invocation *inv)
{
    const char *analyzer = invocation_value(inv, "analyzer");
    struct call call = {.method = METHOD_POST};
    struct json_writer w = {.out = &call.body};

    json_open_object(&w);
    json_put_cstr(&w, STR("text"), inv->args[0]);
    if (analyzer != NULL)
        json_put_cstr(&w, STR("analyzer"), analyzer);
    json_close_object(&w);
    call_path(&call, "/api/v1/words/try");
    return session_run(inv, &call, view_try);
}
