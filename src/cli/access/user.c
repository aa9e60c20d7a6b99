#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/access/secret.h"
#include "src/cli/session.h"
#include "src/format/json.h"

#include <string.h>

static void access_path(struct call *call, const char *plural, const char *name)
{
    call_path(call, plural);
    call_segment(call, name);
}

static void put_option(struct json_writer *w, const struct invocation *inv, const char *name)
{
    const char *value = invocation_value(inv, name);

    if (value != NULL)
        json_put_cstr(w, str_from(name), value);
}

/* Refuses all but yes and no. */
static bool check_rows(const struct invocation *inv, struct err *err)
{
    const char *value = invocation_value(inv, "rows");

    return value == NULL || strcmp(value, "yes") == 0 || strcmp(value, "no") == 0 ||
           err_set(err, ERR_REJECT, "does a viewer see rows? give --rows yes or --rows no");
}

static void put_rows(struct json_writer *w, const struct invocation *inv)
{
    const char *value = invocation_value(inv, "rows");

    if (value != NULL)
        json_put_bool(w, STR("sees_rows"), strcmp(value, "yes") == 0);
}

/* ---- users ---- */

static void view_user(struct buf *out, struct render_style style, struct str json)
{
    buf_append(out, STR("user "));
    render_value(out, style, json, "/name", RENDER_TEXT);
    buf_append(out, STR(" has the role "));
    render_value(out, style, json, "/role", RENDER_TEXT);
    buf_append_char(out, '\n');
}

static int put_user(const struct invocation *inv, bool is_new)
{
    struct call call = {.method = METHOD_PUT};
    struct json_writer w = {.out = &call.body};
    struct buf password = {0};
    struct err err = {0};

    if ((is_new || invocation_has(inv, "password")) &&
        !(secret_read(&password, "password", &err) &&
          (password.len > 0 || err_set(&err, ERR_REJECT,
                                       "the password is empty, and nothing was changed; fix: "
                                       "type one, or write it to standard input")))) {
        buf_free(&password);
        return command_fail(&err);
    }
    access_path(&call, "/api/v1/users", inv->args[0]);
    call_param(&call, "new", is_new ? "true" : NULL);
    call_dry_run(&call, inv);
    json_open_object(&w);
    put_option(&w, inv, "role");
    put_rows(&w, inv);
    if (password.len > 0)
        json_put_string(&w, STR("password"), buf_str(&password));
    json_close_object(&w);
    if (password.len > 0)
        explicit_bzero(password.ptr, password.len);
    buf_free(&password);
    return session_run(inv, &call, view_user);
}

int command_user_add(const struct invocation *inv)
{
    struct err err = {0};

    if (!invocation_has(inv, "role"))
        err_set(&err, ERR_REJECT,
                "what may the user do? give --role viewer, operator or admin");
    else if (check_rows(inv, &err))
        return put_user(inv, true);
    return command_usage(inv, &err);
}

int command_user_set(const struct invocation *inv)
{
    struct err err = {0};

    if (!invocation_has(inv, "role") && !invocation_has(inv, "rows") &&
        !invocation_has(inv, "password"))
        err_set(
            &err, ERR_REJECT,
            "what is to change? give --role ROLE, --rows yes or no, --password, or several");
    else if (check_rows(inv, &err))
        return put_user(inv, false);
    return command_usage(inv, &err);
}

/* ---- tokens ---- */

/* The token alone, so that a script can keep it. */
static void view_token(struct buf *out, struct render_style style, struct str json)
{
    (void)style;
    render_value(out, (struct render_style){0}, json, "/token", RENDER_TEXT);
    buf_append_char(out, '\n');
}

static void view_token_set(struct buf *out, struct render_style style, struct str json)
{
    buf_append(out, STR("token "));
    render_value(out, style, json, "/name", RENDER_TEXT);
    buf_append(out, STR(" has the role "));
    render_value(out, style, json, "/role", RENDER_TEXT);
    buf_append(out, STR(" and ends "));
    render_value(out, style, json, "/ends", RENDER_TEXT);
    buf_append_char(out, '\n');
}

int command_token_set(const struct invocation *inv)
{
    struct call call = {.method = METHOD_PATCH};
    struct json_writer w = {.out = &call.body};
    struct err err = {0};
    uint64_t days = 0;

    if (!invocation_number(inv, "days", &days, &err) || !check_rows(inv, &err))
        return command_usage(inv, &err);
    if (!invocation_has(inv, "role") && !invocation_has(inv, "rows") &&
        !invocation_has(inv, "days")) {
        err_set(&err, ERR_REJECT,
                "what is to change? give --role ROLE, --rows yes or no, --days N, or several");
        return command_usage(inv, &err);
    }
    access_path(&call, "/api/v1/tokens", inv->args[0]);
    json_open_object(&w);
    put_option(&w, inv, "role");
    put_rows(&w, inv);
    if (invocation_has(inv, "days"))
        json_put_u64(&w, STR("days"), days);
    json_close_object(&w);
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_token_set);
}

int command_token_add(const struct invocation *inv)
{
    struct call call = {.method = METHOD_PUT};
    struct json_writer w = {.out = &call.body};
    struct err err = {0};
    uint64_t days = 0;

    if (!invocation_number(inv, "days", &days, &err) || !check_rows(inv, &err))
        return command_usage(inv, &err);
    if (!invocation_has(inv, "role")) {
        err_set(&err, ERR_REJECT,
                "what may the script do? give --role viewer, operator or admin");
        return command_usage(inv, &err);
    }
    access_path(&call, "/api/v1/tokens", inv->args[0]);
    json_open_object(&w);
    put_option(&w, inv, "role");
    put_rows(&w, inv);
    if (invocation_has(inv, "days"))
        json_put_u64(&w, STR("days"), days);
    json_close_object(&w);
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_token);
}
