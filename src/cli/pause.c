#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/session.h"
#include "src/format/json.h"

/* Ask for /api/v1/PLURAL/NAME[/index]/ACTION, with the reason if there is one. */
static int act(const struct invocation *inv, const char *plural, const char *part,
               const char *action,
               void (*view)(struct buf *out, struct render_style style, struct str json))
{
    struct call call = {.method = METHOD_POST};
    struct json_writer w = {.out = &call.body};
    const char *reason = invocation_value(inv, "reason");

    call_path(&call, plural);
    call_segment(&call, inv->args[0]);
    if (part != NULL)
        call_segment(&call, part);
    call_segment(&call, action);
    call_dry_run(&call, inv);
    json_open_object(&w);
    if (reason != NULL)
        json_put_cstr(&w, STR("reason"), reason);
    json_close_object(&w);
    return session_run(inv, &call, view);
}

static void view_topic_paused(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/topic", RENDER_TEXT);
    buf_append(out, STR(" is paused: nothing is read until millrace topic resume\n"));
}

int command_topic_pause(const struct invocation *inv)
{
    return act(inv, "/api/v1/topics", NULL, "pause", view_topic_paused);
}

static void view_topic_resumed(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/topic", RENDER_TEXT);
    buf_append(out, STR(" tries again; millrace status tells how it goes\n"));
}

int command_topic_resume(const struct invocation *inv)
{
    return act(inv, "/api/v1/topics", NULL, "resume", view_topic_resumed);
}

static void view_index_paused(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, STR(" is paused: nothing is written to it until millrace index resume\n"));
}

int command_index_pause(const struct invocation *inv)
{
    return act(inv, "/api/v1/tables", "index", "pause", view_index_paused);
}

static void view_index_resumed(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, STR(" gets its changes again; millrace status tells how it goes\n"));
}

int command_index_resume(const struct invocation *inv)
{
    return act(inv, "/api/v1/tables", "index", "resume", view_index_resumed);
}
