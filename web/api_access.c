#include "config.h"

#include "web/api.h"

#include "rebalance/access/access.h"
#include "rebalance/access/first_admin.h"
#include "rebalance/access/tokens.h"
#include "src/access/role.h"
#include "src/base/clock.h"
#include "src/base/fix.h"
#include "src/format/json.h"
#include "web/access/attempts.h"
#include "web/access/identity.h"
#include "web/body.h"
#include "web/operation/operation.h"
#include "web/request.h"

#include <cJSON.h>
#include <stdio.h>
#include <string.h>

#define DAYS_DEFAULT 90

/* ---- users ---- */

static bool read_rows(const cJSON *body, struct user_change *u, struct err *err)
{
    u->sets_rows = cJSON_HasObjectItem(body, "sees_rows");
    return body_bool(body, "sees_rows", &u->sees_rows, err);
}

void api_put_user(struct api_call *c)
{
    struct user_change u = {.name = c->args[0], .dry_run = c->dry_run};
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = param_bool(&c->req->target, "new", &u.is_new, &err) &&
                    body_parse(&body, c->req, c->op->members, &err) &&
                    body_str(body, "role", &u.role, &err) &&
                    body_str(body, "password", &u.password, &err) &&
                    read_rows(body, &u, &err) &&
                    (u.password.len > 0 || !cJSON_HasObjectItem(body, "password") ||
                     err_set_code(&err, ERR_REJECT, "http", 400, "\"password\" is empty")) &&
                    coordinator_put_user(c->api->coordinator, &u, &c->res->body, &err);

    answer(c, u.is_new && !c->dry_run ? 201 : 200, ok, &err);
    cJSON_Delete(body);
}

void api_delete_user(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200,
           coordinator_delete_user(c->api->coordinator, c->args[0], c->dry_run, &c->res->body,
                                   &err),
           &err);
}

/* ---- tokens ---- */

void api_put_token(struct api_call *c)
{
    struct token_order t = {
        .name = c->args[0], .by = c->req->user, .days = DAYS_DEFAULT, .dry_run = c->dry_run};
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = body_parse(&body, c->req, c->op->members, &err) &&
                    body_str(body, "role", &t.role, &err) &&
                    body_bool(body, "sees_rows", &t.sees_rows, &err) &&
                    body_uint(body, "days", &t.days, &err) &&
                    coordinator_add_token(c->api->coordinator, &t, &c->res->body, &err);

    answer(c, c->dry_run ? 200 : 201, ok, &err);
    cJSON_Delete(body);
}

void api_set_token(struct api_call *c)
{
    struct token_change t = {.name = c->args[0], .dry_run = c->dry_run};
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = body_parse(&body, c->req, c->op->members, &err) &&
                    body_str(body, "role", &t.role, &err) &&
                    body_uint(body, "days", &t.days, &err) &&
                    body_bool(body, "sees_rows", &t.sees_rows, &err);

    t.sets_days = ok && cJSON_HasObjectItem(body, "days");
    t.sets_rows = ok && cJSON_HasObjectItem(body, "sees_rows");
    answer(c, 200, ok && coordinator_set_token(c->api->coordinator, &t, &c->res->body, &err),
           &err);
    cJSON_Delete(body);
}

void api_delete_token(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200,
           coordinator_delete_token(c->api->coordinator, c->args[0], c->dry_run, &c->res->body,
                                    &err),
           &err);
}

/* ---- log-ins ---- */

/*
 * Whoever is on this machine, or in an IPv6 network of 64 bits, may use each address there.
 * Empty: the unix socket, which nobody at the port keeps waiting.
 */
static struct str guesser(const struct request *req)
{
    return req->from.len == 0 ? STR("")
                              : (struct str){(const char *)&req->sender, sizeof(req->sender)};
}

/* Each counts as a failure until it has succeeded, so that many at once are no way round. */
static bool may_try(const struct api_call *c, struct str name, struct err *err)
{
    const int64_t now_ms = clock_mono_ms();
    const int64_t wait_ms = attempts_begin(c->api->attempts, name, guesser(c->req), now_ms);

    return wait_ms == 0 || err_set_code(err, ERR_REJECT, "http", 429,
                                        "too many wrong passwords; fix: try again in %d s",
                                        (int)((wait_ms + 999) / 1000));
}

/* token empty: the log-in has ended.  Secure where the browser came over TLS. */
static void set_cookie(const struct api_call *c, const char *token)
{
    const struct str https = STR("https://");
    const bool is_tls =
        c->req->is_tls || (c->req->origin.len > https.len &&
                           memcmp(c->req->origin.ptr, https.ptr, https.len) == 0);
    const struct str path = c->api->prefix.len > 0 ? c->api->prefix : STR("/");
    char value[256];

    snprintf(value, sizeof(value),
             SESSION_COOKIE "=%s; Path=%" STR_FMT "; HttpOnly; SameSite=Strict; Max-Age=%d%s",
             token, STR_ARG(path), token[0] != '\0' ? LOG_IN_S : 0, is_tls ? "; Secure" : "");
    response_add_header(c->res, "Set-Cookie", value);
}

/* token: of a new log-in.  A store that does not answer is nobody's failure. */
static bool end_try(const struct api_call *c, struct str name, bool ok, const char *token,
                    const struct err *err)
{
    if (ok || (err->code != 401 && err->code != 403))
        attempts_forgive(c->api->attempts, name, guesser(c->req));
    if (ok)
        set_cookie(c, token);
    return ok;
}

/*
 * Finish a call that asked for a secret.  wrong: the code of a 401, for whoever gave another
 * one: nobody's log-in has ended.
 */
static void answer_secret(struct api_call *c, int status, bool ok, const char *wrong,
                          const struct err *err)
{
    struct response_problem p = {.status = 401, .code = wrong, .detail = str_from(err->msg)};

    if (ok || response_err_status(err) != 401) {
        answer(c, status, ok, err);
        return;
    }
    p.fix = fix_split(&p.detail);
    response_set_problem(c->res, &p);
}

static bool log_in(const struct api_call *c, const struct log_in_order *o, struct err *err)
{
    char token[TOKEN_TEXT + 1];

    return may_try(c, o->name, err) &&
           end_try(c, o->name,
                   coordinator_log_in(c->api->coordinator, o, token, &c->res->body, err), token,
                   err);
}

void api_log_in(struct api_call *c)
{
    struct log_in_order o = {.name = STR(""), .password = STR(""), .from = c->req->from};
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = body_parse(&body, c->req, c->op->members, &err) &&
                    body_str(body, "name", &o.name, &err) &&
                    body_str(body, "password", &o.password, &err) &&
                    (o.name.len > 0 || err_set_code(&err, ERR_REJECT, "http", 400,
                                                    "who logs in? give \"name\"")) &&
                    (o.password.len > 0 ||
                     err_set_code(&err, ERR_REJECT, "http", 400, "give the \"password\"")) &&
                    log_in(c, &o, &err);

    answer_secret(c, 200, ok, "wrong-password", &err);
    cJSON_Delete(body);
}

/* ---- another password ---- */

static bool has_logged_in(const struct api_call *c)
{
    if (c->req->account.len > 0)
        return true;
    response_set_problem(
        c->res,
        &(struct response_problem){
            .status = 403,
            .code = "no-log-in",
            .detail = STR("who has not logged in has no password here: neither a token nor the "
                          "unix socket has one"),
            .fix = STR("log in; as an admin, run millrace user set NAME --password")});
    return false;
}

static bool change_password(const struct api_call *c, const struct password_change *p,
                            struct err *err)
{
    char token[TOKEN_TEXT + 1];

    return may_try(c, p->name, err) &&
           end_try(
               c, p->name,
               coordinator_change_password(c->api->coordinator, p, token, &c->res->body, err),
               token, err);
}

void api_put_password(struct api_call *c)
{
    struct password_change p = {.name = c->req->account, .from = c->req->from};
    struct err err = {0};
    cJSON *body = NULL;

    if (!body_parse(&body, c->req, c->op->members, &err) ||
        !body_str(body, "old", &p.old, &err) || !body_str(body, "new", &p.wanted, &err) ||
        !((p.old.len > 0 && p.wanted.len > 0) ||
          err_set_code(&err, ERR_REJECT, "http", 400,
                       "give the \"old\" password and a \"new\" one")))
        answer(c, 200, false, &err);
    else if (has_logged_in(c))
        answer(c, 200, change_password(c, &p, &err), &err);
    cJSON_Delete(body);
}

/* ---- the first admin ---- */

/* Guesses of the token are nobody's by name. */
static bool add_first_admin(const struct api_call *c, const struct first_admin_order *o,
                            struct err *err)
{
    char token[TOKEN_TEXT + 1];

    return may_try(c, STR(""), err) &&
           end_try(
               c, STR(""),
               coordinator_add_first_admin(c->api->coordinator, o, token, &c->res->body, err),
               token, err);
}

void api_first_admin(struct api_call *c)
{
    struct first_admin_order o = {.from = c->req->from};
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok =
        body_parse(&body, c->req, c->op->members, &err) &&
        body_str(body, "token", &o.token, &err) && body_str(body, "name", &o.name, &err) &&
        body_str(body, "password", &o.password, &err) &&
        ((o.token.len > 0 && o.name.len > 0 && o.password.len > 0) ||
         err_set_code(&err, ERR_REJECT, "http", 400,
                      "give the \"token\", and a \"name\" and a \"password\" for the admin")) &&
        add_first_admin(c, &o, &err);

    answer_secret(c, 201, ok, "wrong-token", &err);
    cJSON_Delete(body);
}

/* ---- who asks ---- */

static void put_me(const struct api_call *c, struct str who, enum access_role role,
                   bool sees_rows)
{
    struct json_writer w = {.out = &c->res->body};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/me/1");
    json_put_string(&w, STR("who"), who);
    json_put_cstr(&w, STR("role"), role_name(role));
    json_put_bool(&w, STR("sees_rows"), sees_rows);
    json_put_bool(&w, STR("first_admin"), coordinator_awaits_first_admin(c->api->coordinator));
    json_put_bool(&w, STR("read_only"), c->req->is_read_only);
    json_close_object(&w);
}

void api_log_out(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = body_parse(&body, c->req, c->op->members, &err) &&
                    coordinator_log_out(c->api->coordinator, c->req->session, &err);

    if (ok) {
        set_cookie(c, "");
        put_me(c, STR(""), ROLE_PAGE, false);
    }
    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_me(struct api_call *c)
{
    const struct request *req = c->req;

    put_me(c, req->user, req->role, request_sees_rows(req));
}
