#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/session.h"
#include "src/format/json.h"

static void index_path(struct call *call, const struct invocation *inv, const char *what)
{
    call_path(call, "/api/v1/tables");
    call_segment(call, inv->args[0]);
    call_segment(call, what);
}

static void view_set(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, STR(": its build is changed\n"));
}

static void view_dropped(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, STR(": versions dropped: "));
    render_value(out, style, json, "/count", RENDER_COUNT);
    buf_append_char(out, '\n');
}

int command_index_set(const struct invocation *inv)
{
    struct call call = {.method = METHOD_PATCH};
    struct json_writer w = {.out = &call.body};
    struct err err = {0};
    uint64_t rate = 0, nodes = 0;

    if (!invocation_has(inv, "rate") && !invocation_has(inv, "nodes")) {
        err_set(&err, ERR_REJECT, "nothing to set: give --rate or --nodes");
        return command_usage(inv, &err);
    }
    if (!invocation_number(inv, "rate", &rate, &err) ||
        !invocation_number(inv, "nodes", &nodes, &err))
        return command_usage(inv, &err);
    index_path(&call, inv, "index");
    call_dry_run(&call, inv);
    json_open_object(&w);
    if (invocation_has(inv, "rate"))
        json_put_u64(&w, STR("rate"), rate);
    if (invocation_has(inv, "nodes"))
        json_put_u64(&w, STR("nodes"), nodes);
    json_close_object(&w);
    return session_run(inv, &call, view_set);
}

static void view_returned(struct buf *out, struct render_style style, struct str json)
{
    buf_append(out, STR("searches of "));
    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, STR(" use version "));
    render_value(out, style, json, "/version", RENDER_COUNT);
    buf_append(out, STR(" again, instead of version "));
    render_value(out, style, json, "/from", RENDER_COUNT);
    buf_append_char(out, '\n');
}

int command_index_rollback(const struct invocation *inv)
{
    struct call call = {.method = METHOD_POST};
    struct err err = {0};
    uint64_t to = 0;

    if (!invocation_number(inv, "to", &to, &err))
        return command_usage(inv, &err);
    index_path(&call, inv, "index");
    call_segment(&call, "rollback");
    call_dry_run(&call, inv);
    buf_printf(&call.body, "{\"to\":%llu}", (unsigned long long)to);
    return session_run(inv, &call, view_returned);
}

int command_index_reset(const struct invocation *inv)
{
    struct call call = {.method = METHOD_POST};
    int code =
        session_confirm(inv, "Stop the running build and drop what it made of", inv->args[0]);

    if (code != EXIT_DONE)
        return code;
    index_path(&call, inv, "index");
    call_segment(&call, "reset");
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_dropped);
}

int command_index_delete(const struct invocation *inv)
{
    struct call call = {.method = METHOD_DELETE};
    int code = session_confirm(inv, "Delete index versions that are history or retired of",
                               inv->args[0]);

    if (code != EXIT_DONE)
        return code;
    index_path(&call, inv, "versions");
    if (inv->n_args > 1)
        call_segment(&call, inv->args[1]);
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_dropped);
}
