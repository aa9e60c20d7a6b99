#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/session.h"
#include "src/cli/view/verify_view.h"
#include "src/format/json.h"

#include <string.h>

#define PATH "/api/v1/config/delivery"

static void view_settings(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"SETTING", "/name", RENDER_TEXT},
        {"VALUE", "/value", RENDER_TEXT},
        {"ORIGIN", "/origin", RENDER_TEXT},
        {"CONFIGURED", "/configured", RENDER_TEXT},
    };
    struct str items;

    if (json_find(json, "/items", &items))
        render_table(out, style, items, columns, ARRAY_LEN(columns));
}

int command_delivery_get(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    call_path(&call, PATH);
    if (inv->n_args > 0)
        call_segment(&call, inv->args[0]);
    return session_run(inv, &call, view_settings);
}

static void view_change(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"SETTING", "/name", RENDER_TEXT},
        {"PREVIOUS", "/previous", RENDER_TEXT},
        {"VALUE", "/value", RENDER_TEXT},
        {"ORIGIN", "/origin", RENDER_TEXT},
    };
    struct str items;

    if (!json_find(json, "/items", &items))
        return;
    if (items.len <= 2)
        buf_append(out, STR("nothing changed\n"));
    else
        render_table(out, style, items, columns, ARRAY_LEN(columns));
}

/* Add "NAME=VALUE", or "NAME" to reset it. */
static bool put_change(struct json_writer *w, const char *arg, bool reset, struct err *err)
{
    const size_t n = strcspn(arg, "=");
    const struct str name = {arg, n};

    if (arg[n] == '=')
        json_put_cstr(w, name, arg + n + 1);
    else if (reset)
        json_put_null(w, name);
    else
        return err_set(err, ERR_REJECT, "\"%s\" has no value: NAME=VALUE, or --reset NAME",
                       arg);
    return true;
}

static bool put_changes(struct buf *body, const struct invocation *inv, bool reset,
                        struct err *err)
{
    struct json_writer w = {.out = body};

    json_open_object(&w);
    for (size_t i = 0; i < inv->n_args; i++)
        if (!put_change(&w, inv->args[i], reset, err))
            return false;
    json_close_object(&w);
    return true;
}

int command_delivery_set(const struct invocation *inv)
{
    const bool reset = invocation_has(inv, "reset");
    const bool all = reset && inv->n_args == 0;
    struct call call = {.method = all ? METHOD_POST : METHOD_PATCH};
    struct err err = {0};

    call_path(&call, PATH);
    if (all)
        call_segment(&call, "reset");
    else if (inv->n_args == 0)
        err_set(&err, ERR_REJECT, "set what? NAME=VALUE..., or --reset");
    else
        (void)!put_changes(&call.body, inv, reset, &err);
    if (err.kind != ERR_NONE) {
        buf_free(&call.target);
        buf_free(&call.body);
        return command_usage(inv, &err);
    }
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_change);
}

static bool put_drain(struct buf *body, const struct invocation *inv, struct err *err)
{
    struct json_writer w = {.out = body};
    uint64_t n;

    json_open_object(&w);
    if (!invocation_number(inv, "worker", &n, err))
        return false;
    if (invocation_has(inv, "worker"))
        json_put_u64(&w, STR("worker"), n);
    if (!invocation_number(inv, "timeout", &n, err))
        return false;
    if (invocation_has(inv, "timeout"))
        json_put_u64(&w, STR("timeout_ms"), n < UINT32_MAX ? n * 1000 : UINT32_MAX);
    json_close_object(&w);
    return true;
}

static void view_tried(struct buf *out, struct render_style style, struct str json)
{
    (void)style, (void)json;
    buf_append(out, STR("the queue can be drained\n"));
}

static bool is_done(struct str json)
{
    struct buf end = {0};
    const bool done =
        json_find_text(json, "/end", &end) && str_equal(buf_str(&end), STR("done"));

    buf_free(&end);
    return done;
}

static void view_drain_job(struct buf *out, struct render_style style, struct str json)
{
    buf_append(out, STR("the queue is drained by job "));
    render_value(out, style, json, "/job", RENDER_TEXT);
    buf_append(out, STR(": millrace report get "));
    render_value(out, style, json, "/job", RENDER_TEXT);
    buf_append(out, STR(" says how it ended\n"));
}

static int wait_for_drain(struct session *s, const struct invocation *inv, struct str started)
{
    struct buf job = {0}, report = {0};
    int code;

    if (json_find_text(started, "/job", &job)) {
        code = session_wait_for_job(s, "drain", job.ptr, &report);
    } else { /* a daemon of an older version answers when it has ended */
        buf_append(&report, started);
        code = EXIT_DONE;
    }
    if (code == EXIT_DONE)
        code = session_print(inv, buf_str(&report), view_drain);
    if (code == EXIT_DONE && !is_done(buf_str(&report)))
        code = EXIT_FAILED;
    buf_free(&job);
    buf_free(&report);
    return code;
}

static int drain(const struct invocation *inv, struct call *call)
{
    struct session *s = NULL;
    struct buf started = {0};
    struct err err = {0};

    if (!session_open(&s, inv, &err)) {
        buf_free(&call->target);
        buf_free(&call->body);
        return command_fail(&err);
    }

    int code = session_ask(s, call, &started);

    if (code == EXIT_DONE)
        code = invocation_has(inv, "no-wait")
                   ? session_print(inv, buf_str(&started), view_drain_job)
                   : wait_for_drain(s, inv, buf_str(&started));
    session_close(s);
    buf_free(&started);
    return code;
}

int command_drain(const struct invocation *inv)
{
    struct call call = {.method = METHOD_POST};
    struct err err = {0};

    call_path(&call, "/api/v1/drain");
    if (invocation_has(inv, "cancel")) {
        call_segment(&call, "cancel");
        call_dry_run(&call, inv);
        return session_run(inv, &call, NULL);
    }
    if (!put_drain(&call.body, inv, &err)) {
        buf_free(&call.target);
        buf_free(&call.body);
        return command_usage(inv, &err);
    }
    call_dry_run(&call, inv);
    return invocation_has(inv, "dry-run") ? session_run(inv, &call, view_tried)
                                          : drain(inv, &call);
}

/* ---- alarms ---- */

static void view_alarm_test(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"RECEIVER", "/receiver", RENDER_TEXT}, {"TAKEN", "/ok", RENDER_YES},
        {"STATUS", "/status", RENDER_COUNT},    {"ANSWER", "/answer", RENDER_TEXT},
        {"REASON", "/reason", RENDER_TEXT},
    };
    struct str items;

    if (json_find(json, "/items", &items))
        render_table(out, style, items, columns, ARRAY_LEN(columns));
}

static bool is_taken(struct str json)
{
    bool ok = false;

    return json_find_bool(json, "/ok", &ok) && ok;
}

int command_alarm_test(const struct invocation *inv)
{
    struct call call = {.method = METHOD_POST};

    call_path(&call, "/api/v1/alarms/test");
    return session_run_if(inv, &call, view_alarm_test, is_taken);
}
