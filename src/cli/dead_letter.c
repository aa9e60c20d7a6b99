#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/session.h"
#include "src/format/json.h"

#include <stdio.h>

static const char *const which[] = {"topic", "table", "index", "reason"};

static void view_letters(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"ID", "/id", RENDER_TEXT},
        {"TABLE", "/table", RENDER_TEXT},
        {"INDEX", "/index", RENDER_TEXT},
        {"DOCUMENT", "/doc_id", RENDER_START},
        {"OP", "/op", RENDER_TEXT},
        {"STATUS", "/status", RENDER_TEXT},
        {"TRIES", "/attempts", RENDER_COUNT},
        {"LAST", "/last", RENDER_TEXT},
        {"POSITION", "/position", RENDER_TEXT},
        {"GTID", "/gtid", RENDER_TEXT},
        {"REASON", "/reason", RENDER_TEXT},
    };
    struct str items, last;

    if (!json_find(json, "/items", &items))
        return;
    if (items.len <= 2)
        buf_append(out, STR("no dead letters\n"));
    else
        render_table(out, style, items, columns, ARRAY_LEN(columns));
    if (json_find(json, "/more_after", &last))
        buf_printf(out, "there are more: --after %" STR_FMT "\n", STR_ARG(last));
}

int command_dead_letter_list(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};
    struct err err = {0};
    uint64_t n;

    if (!invocation_number(inv, "limit", &n, &err) ||
        !invocation_number(inv, "after", &n, &err))
        return command_usage(inv, &err);
    call_path(&call, "/api/v1/dead-letters");
    for (size_t i = 0; i < ARRAY_LEN(which); i++)
        call_param(&call, which[i], invocation_value(inv, which[i]));
    call_param(&call, "limit", invocation_value(inv, "limit"));
    call_param(&call, "after", invocation_value(inv, "after"));
    return session_run(inv, &call, view_letters);
}

static void view_letter(struct buf *out, struct render_style style, struct str json)
{
    struct str item;

    (void)style;
    if (json_find(json, "/items/0", &item))
        render_yaml(out, item);
}

int command_dead_letter_show(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    call_path(&call, "/api/v1/dead-letters");
    call_segment(&call, inv->args[0]);
    return session_run(inv, &call, view_letter);
}

/*
 * Put the command line's filters into the body.  Returns false if there are none, or --all
 * beside others.
 */
static bool add_filter(struct buf *body, const struct invocation *inv, struct err *err)
{
    struct json_writer w = {.out = body};
    bool all = invocation_has(inv, "all");
    size_t n = inv->n_args;

    json_open_object(&w);
    if (inv->n_args > 0)
        json_put_cstr(&w, STR("id"), inv->args[0]);
    for (size_t i = 0; i < ARRAY_LEN(which); i++) {
        const char *value = invocation_value(inv, which[i]);

        if (value != NULL)
            json_put_cstr(&w, str_from(which[i]), value);
        n += value != NULL;
    }
    if (all)
        json_put_bool(&w, STR("all"), true);
    json_close_object(&w);
    if (n == 0 && !all)
        return err_set(err, ERR_REJECT,
                       "which ones? an ID, --table, --topic, --index, --reason, or --all");
    if (all && n > 0)
        return err_set(err, ERR_REJECT, "--all excludes an ID and the other options");
    return true;
}

static void view_count(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/count", RENDER_COUNT);
    buf_append(out, STR(" dead letters\n"));
}

static int act(const struct invocation *inv, const char *verb)
{
    struct call call = {.method = METHOD_POST};
    struct err err = {0};

    call_path(&call, "/api/v1/dead-letters");
    call_segment(&call, verb);
    if (!add_filter(&call.body, inv, &err))
        return command_usage(inv, &err);
    return session_run(inv, &call, view_count);
}

int command_dead_letter_replay(const struct invocation *inv)
{
    return act(inv, "replay");
}

int command_dead_letter_discard(const struct invocation *inv)
{
    int code = session_confirm(inv, "Forget these dead letters?", "");

    return code == EXIT_DONE ? act(inv, "discard") : code;
}
