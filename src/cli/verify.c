#include "config.h"

#include "src/cli/commands.h"

#include "src/base/buf.h"
#include "src/cli/session.h"
#include "src/cli/view/screen.h"
#include "src/format/json.h"

#include <string.h>

/* Calls add() for each element of the list at pointer. */
static void each(struct buf *out, struct render_style style, struct str json,
                 const char *pointer,
                 void (*add)(struct buf *out, struct render_style style, struct str one))
{
    struct json_reader r;
    struct str list, one;

    if (!json_find(json, pointer, &list))
        return;
    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &one))
            add(out, style, one);
}

static void add_value(struct buf *out, struct str path, const char *title, const char *pointer)
{
    struct str value;

    if (!json_find(path, pointer, &value))
        return;
    buf_printf(out, "\n      %s", title);
    screen_safe(out, value);
}

static void add_path(struct buf *out, struct render_style style, struct str path)
{
    buf_append(out, STR("    "));
    render_value(out, style, path, "/path", RENDER_TEXT);
    buf_append(out, STR(": "));
    render_value(out, style, path, "/kind", RENDER_TEXT);
    add_value(out, path, "row       ", "/wanted");
    add_value(out, path, "document  ", "/found");
    buf_append_char(out, '\n');
}

static void add_difference(struct buf *out, struct render_style style, struct str d)
{
    bool repaired = false;

    json_find_bool(d, "/repaired", &repaired);
    buf_append(out, STR("  "));
    render_value(out, style, d, "/id", RENDER_TEXT);
    buf_append(out, STR(": "));
    render_value(out, style, d, "/kind", RENDER_TEXT);
    buf_append(out, repaired ? STR(", repaired\n") : STR("\n"));
    each(out, style, d, "/paths", add_path);
}

static void add_apart(struct buf *out, struct render_style style, struct str one)
{
    buf_append(out, STR("  "));
    render_value(out, style, one, "/id", RENDER_TEXT);
    buf_append(out, STR(": not judged ("));
    render_value(out, style, one, "/reason", RENDER_TEXT);
    buf_append(out, STR(")\n"));
}

static void view_verify(struct buf *out, struct render_style style, struct str json)
{
    bool compared = true;

    render_value(out, style, json, "/equal", RENDER_COUNT);
    buf_append(out, STR(" of "));
    render_value(out, style, json, "/documents", RENDER_COUNT);
    buf_append(out, STR(" documents of "));
    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, STR(" (version "));
    render_value(out, style, json, "/version", RENDER_COUNT);
    buf_append(out, STR(") are equal to their rows\n"));
    json_find_bool(json, "/values_compared", &compared);
    if (!compared)
        buf_append(out, STR("  values are not compared: `mapping` changes _source\n"));
    each(out, style, json, "/differences", add_difference);
    each(out, style, json, "/apart", add_apart);
}

/* Returns false and an error if no key is given. */
static bool put_request(struct buf *body, const struct invocation *inv, struct err *err)
{
    struct json_writer w = {.out = body};
    size_t n = 0;

    json_open_object(&w);
    json_write_key(&w, STR("keys"));
    json_open_array(&w);
    for (size_t i = 0; i < inv->n_given; i++)
        if (strcmp(inv->given[i].option->name, "key") == 0) {
            json_write_string(&w, str_from(inv->given[i].value));
            n++;
        }
    json_close_array(&w);
    json_put_bool(&w, STR("repair"), invocation_has(inv, "repair"));
    json_put_bool(&w, STR("values"), invocation_has(inv, "values"));
    json_close_object(&w);
    return n > 0 || err_set(err, ERR_REJECT, "verify which rows? give --key ID");
}

static int exit_of(struct str json)
{
    struct buf verdict = {0};
    int code = EXIT_BUSY;

    json_find_text(json, "/verdict", &verdict);
    if (str_equal(buf_str(&verdict), STR("equal")))
        code = EXIT_DONE;
    else if (str_equal(buf_str(&verdict), STR("different")))
        code = EXIT_FAILED;
    buf_free(&verdict);
    return code;
}

static int ask(const struct invocation *inv, struct session *s, struct call *call)
{
    struct buf answer = {0};
    int code = session_ask(s, call, &answer);

    if (code == EXIT_DONE)
        code = session_print(inv, buf_str(&answer), view_verify);
    if (code == EXIT_DONE)
        code = exit_of(buf_str(&answer));
    buf_free(&answer);
    return code;
}

int command_verify(const struct invocation *inv)
{
    struct call call = {.method = METHOD_POST, .is_question = true};
    struct session *s = NULL;
    struct err err = {0};
    const bool usable = put_request(&call.body, inv, &err);

    if (!usable || !session_open(&s, inv, &err)) {
        buf_free(&call.body);
        return usable ? command_fail(&err) : command_usage(inv, &err);
    }
    call_path(&call, "/api/v1/tables");
    call_segment(&call, inv->args[0]);
    call_segment(&call, "verify");

    const int code = ask(inv, s, &call);

    session_close(s);
    return code;
}
