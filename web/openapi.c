#include "config.h"

#include "web/openapi.h"

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "web/access/identity.h"
#include "web/operation/operation.h"
#include "web/operation/schema.h"
#include "web/request.h"
#include "web/routes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define ROOT "/api/v1/"

#define ABOUT                                                                                \
    "The unix socket of the daemon serves everything, to its own user and to root.  On the " \
    "port, a token or a log-in has a role; without one, what has the role probe or page is " \
    "served.  A path that is here answers other methods with "                               \
    "405 and Allow, any other path is answered with 404.  HEAD is a GET without a body.  A " \
    "whole number in a body may also be sent as a text of its digits.  A new version of "    \
    "Millrace may add members to a form.  docs/api.md says what it all means."

/* ---- problems ---- */

static const struct problem {
    int status;
    const char *text;
} problems[] = {
    {400, "The request makes no sense; correct it."},
    {401, "The port needs a token or a log-in for this, or the password or the token is "
          "wrong."},
    {403, "Not for this user, from a page of another site, or the old password is wrong."},
    {404, "There is no such thing, or no such path."},
    {405, "The path does not have this method."},
    {408, "The head of the request did not come in time."},
    {409, "Not now: something else runs or is in the way."},
    {411, "Send the body with Content-Length."},
    {412, "Somebody else changed the definitions since."},
    {413, "The body is too large, or the request takes none."},
    {415, "Send the body as application/json."},
    {421, "The Host header names another host."},
    {422, "Understood, and refused; the answer says why."},
    {423, "A build or a delayed run writes these documents; ask again when it has ended."},
    {429, "Too many wrong passwords; the answer says when to try again."},
    {431, "The head is too large."},
    {500, "A fault of the daemon; its log has more."},
    {503, "A server is away or busy, or there are too many calls; the same request may succeed "
          "later."},
};

static bool has_status(const char *list, int status)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", status);
    return list != NULL && strstr(list, text) != NULL;
}

static bool may_have(const struct route *r, int status)
{
    for (const struct operation_answer *a = r->op->answers; a->status != 0; a++)
        if (a->status == status)
            return false;
    if (has_status("400 401 408 411 413 421 431 500 503", status) ||
        has_status(r->op->problems, status))
        return true;
    return (status == 403 && (r->role > ROLE_PAGE || r->method != METHOD_GET)) ||
           (status == 404 && strchr(r->pattern, '{') != NULL) ||
           ((status == 409 || status == 422) && (r->traits & TAKES_KEY) != 0) ||
           (status == 412 && r->op->asks_revision) || (status == 415 && r->body_max > 0);
}

static void put_header(struct json_writer *w, const char *name, const char *text,
                       const char *type)
{
    json_write_key(w, STR("headers"));
    json_open_object(w);
    json_write_key(w, str_from(name));
    json_open_object(w);
    json_put_cstr(w, STR("description"), text);
    json_write_key(w, STR("schema"));
    json_open_object(w);
    json_put_cstr(w, STR("type"), type);
    json_close_object(w);
    json_close_object(w);
    json_close_object(w);
}

static void put_problem(struct json_writer *w, const char *name, const struct problem *p)
{
    json_write_key(w, str_from(name));
    json_open_object(w);
    json_put_cstr(w, STR("description"), p->text);
    if (p->status == 405)
        put_header(w, "Allow", "The methods of the path.", "string");
    if (p->status == 401)
        put_header(w, "WWW-Authenticate", "Bearer.", "string");
    if (p->status == 429 || p->status == 503)
        put_header(w, "Retry-After", "Seconds.", "integer");
    json_put_raw(w, STR("content"),
                 STR("{\"application/problem+json\":{\"schema\":"
                     "{\"$ref\":\"#/components/schemas/problem\"}}}"));
    json_close_object(w);
}

static void put_problems(struct json_writer *w)
{
    static const struct problem any = {0, "Any other failure."};

    json_write_key(w, STR("responses"));
    json_open_object(w);
    for (size_t i = 0; i < ARRAY_LEN(problems); i++) {
        char name[16];

        snprintf(name, sizeof(name), "%d", problems[i].status);
        put_problem(w, name, &problems[i]);
    }
    put_problem(w, "problem", &any);
    json_close_object(w);
}

/* ---- answers ---- */

static void write_reference(struct json_writer *w, const char *kind, struct str name)
{
    struct buf b = {0};

    buf_printf(&b, "#/components/%s/%" STR_FMT, kind, STR_ARG(name));
    json_open_object(w);
    json_put_string(w, STR("$ref"), buf_str(&b));
    json_close_object(w);
    buf_free(&b);
}

/* "verify/1" is the component verify.1, as a name there has no slash. */
static void write_form(struct json_writer *w, struct str form)
{
    struct buf b = {0};

    for (size_t i = 0; i < form.len; i++)
        buf_append_char(&b, form.ptr[i] == '/' ? '.' : form.ptr[i]);
    write_reference(w, "schemas", buf_str(&b));
    buf_free(&b);
}

static void write_forms(struct json_writer *w, const char *forms)
{
    if (strchr(forms, ' ') == NULL) {
        write_form(w, str_from(forms));
        return;
    }
    json_open_object(w);
    json_write_key(w, STR("oneOf"));
    json_open_array(w);
    for (size_t n; *forms != '\0'; forms += n + (forms[n] == ' ')) {
        n = strcspn(forms, " ");
        write_form(w, (struct str){forms, n});
    }
    json_close_array(w);
    json_close_object(w);
}

static void write_answer_schema(struct json_writer *w, const struct route *r,
                                const struct operation_answer *a)
{
    struct buf form = {0};

    if (a->type != NULL) {
        json_write_raw(w, strcmp(a->type, "application/yaml") == 0
                              ? STR("{\"type\":\"object\"}")
                              : STR("{\"type\":\"string\"}"));
        return;
    }
    if (a->forms == NULL)
        buf_printf(&form, "%s/1", r->noun);
    write_forms(w, a->forms != NULL ? a->forms : form.ptr);
    buf_free(&form);
}

static void put_answer(struct json_writer *w, const struct route *r,
                       const struct operation_answer *a)
{
    char status[16];

    snprintf(status, sizeof(status), "%d", a->status);
    json_write_key(w, str_from(status));
    json_open_object(w);
    json_put_cstr(w, STR("description"), response_status_text(a->status));
    if (r->op->tells_revision)
        put_header(w, "ETag", "The revision of the definitions.", "string");
    json_write_key(w, STR("content"));
    json_open_object(w);
    json_write_key(w, str_from(a->type != NULL ? a->type : "application/json"));
    json_open_object(w);
    json_write_key(w, STR("schema"));
    write_answer_schema(w, r, a);
    json_close_object(w);
    json_close_object(w);
    json_close_object(w);
}

static void put_answers(struct json_writer *w, const struct route *r)
{
    json_write_key(w, STR("responses"));
    json_open_object(w);
    for (const struct operation_answer *a = r->op->answers; a->status != 0; a++)
        put_answer(w, r, a);
    for (size_t i = 0; i < ARRAY_LEN(problems); i++) {
        char status[16];

        if (!may_have(r, problems[i].status))
            continue;
        snprintf(status, sizeof(status), "%d", problems[i].status);
        json_write_key(w, str_from(status));
        write_reference(w, "responses", str_from(status));
    }
    json_write_key(w, STR("default"));
    write_reference(w, "responses", STR("problem"));
    json_close_object(w);
}

/* ---- requests ---- */

static void put_params(struct json_writer *w, const struct route *r)
{
    const bool takes_key = (r->traits & TAKES_KEY) != 0;
    const bool is_change = r->method != METHOD_GET;

    if (r->op->params == NULL && !is_change)
        return;
    json_write_key(w, STR("parameters"));
    json_open_array(w);
    if (r->op->asks_revision)
        write_reference(w, "parameters", STR("If-Match"));
    if (takes_key)
        write_reference(w, "parameters", STR("Idempotency-Key"));
    if (is_change)
        write_reference(w, "parameters", STR("why"));
    for (const struct input *in = r->op->params; in != NULL && in->name != NULL; in++) {
        json_open_object(w);
        json_put_cstr(w, STR("name"), in->name);
        json_put_cstr(w, STR("in"), "query");
        json_put_bool(w, STR("required"), in->required);
        json_write_key(w, STR("schema"));
        schema_write_input(w, in);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_definition(struct json_writer *w, const char *noun)
{
    struct buf b = {0};

    buf_printf(&b, "definition.%s", noun);
    write_reference(w, "schemas", buf_str(&b));
    buf_free(&b);
}

static void write_body_schema(struct json_writer *w, const struct route *r)
{
    const struct operation *op = r->op;

    if (op->takes_definition) {
        write_definition(w, r->noun);
    } else if (op->takes_settings) {
        schema_write_settings(w);
    } else if (op->or_members == NULL) {
        schema_write_members(w, op->members);
    } else {
        json_open_object(w);
        json_write_key(w, STR("oneOf"));
        json_open_array(w);
        schema_write_members(w, op->members);
        schema_write_members(w, op->or_members);
        json_close_array(w);
        json_close_object(w);
    }
}

static bool needs_body(const struct operation *op)
{
    bool needs = op->takes_settings || op->takes_definition;

    for (const struct input *in = op->members; in != NULL && in->name != NULL; in++)
        needs = needs || in->required;
    return needs;
}

static void put_body(struct json_writer *w, const struct route *r)
{
    if (r->body_max == 0)
        return;
    json_put_u64(w, STR("x-millrace-body-max"), r->body_max);
    json_write_key(w, STR("requestBody"));
    json_open_object(w);
    json_put_bool(w, STR("required"), needs_body(r->op));
    json_write_key(w, STR("content"));
    json_open_object(w);
    json_write_key(w, STR("application/json"));
    json_open_object(w);
    json_write_key(w, STR("schema"));
    write_body_schema(w, r);
    json_close_object(w);
    json_close_object(w);
    json_close_object(w);
}

/* ---- operations ---- */

static bool is_api(const char *pattern)
{
    return strncmp(pattern, ROOT, strlen(ROOT)) == 0;
}

static void put_tag(struct json_writer *w, const char *pattern)
{
    const char *at = is_api(pattern) ? pattern + strlen(ROOT) : "health";

    json_write_key(w, STR("tags"));
    json_open_array(w);
    json_write_string(w, (struct str){at, strcspn(at, "/.")});
    json_close_array(w);
}

static void append_lower(struct buf *b, const char *text)
{
    for (; *text != '\0'; text++)
        buf_append_char(b, (char)tolower((unsigned char)*text));
}

/* POST /api/v1/tables/{name}/verify is post_tables_name_verify, GET /status get_page_status. */
static void put_id(struct json_writer *w, const struct route *r)
{
    const char *at = is_api(r->pattern) ? r->pattern + strlen(ROOT) : r->pattern + 1;
    struct buf id = {0};

    append_lower(&id, request_method_name(r->method));
    buf_append_char(&id, '_');
    if (!is_api(r->pattern) && r->role == ROLE_PAGE)
        buf_append(&id, *at == '\0' ? STR("page") : STR("page_"));
    for (; *at != '\0'; at++)
        if (*at != '{' && *at != '}')
            buf_append_char(&id, isalnum((unsigned char)*at) ? *at : '_');
    json_put_string(w, STR("operationId"), buf_str(&id));
    buf_free(&id);
}

static void put_operation(struct json_writer *w, const struct route *r)
{
    struct buf method = {0};

    append_lower(&method, request_method_name(r->method));
    json_write_key(w, buf_str(&method));
    buf_free(&method);
    json_open_object(w);
    put_id(w, r);
    put_tag(w, r->pattern);
    json_put_cstr(w, STR("summary"), r->summary);
    json_put_cstr(w, STR("x-millrace-role"), role_name(r->role));
    json_put_bool(w, STR("x-millrace-shows-rows"), (r->traits & SHOWS_ROWS) != 0);
    json_put_raw(w, STR("security"),
                 r->role > ROLE_PAGE ? STR("[{\"token\":[]},{\"login\":[]}]") : STR("[]"));
    json_put_bool(w, STR("x-millrace-may-repeat"),
                  r->method == METHOD_GET || (r->traits & MAY_REPEAT) != 0);
    json_put_cstr(w, STR("x-millrace-answered-by"),
                  r->concern == CONCERNS_NODE ? "node" : "owner");
    put_params(w, r);
    put_body(w, r);
    put_answers(w, r);
    json_close_object(w);
}

/* ---- paths ---- */

static void put_argument(struct json_writer *w, struct str name)
{
    const bool is_number = str_equal(name, STR("number")) || str_equal(name, STR("id"));

    json_open_object(w);
    json_put_string(w, STR("name"), name);
    json_put_cstr(w, STR("in"), "path");
    json_put_bool(w, STR("required"), true);
    json_put_raw(w, STR("schema"),
                 is_number ? STR("{\"type\":\"integer\",\"minimum\":1}")
                           : STR("{\"type\":\"string\",\"minLength\":1}"));
    json_close_object(w);
}

static void put_arguments(struct json_writer *w, const char *pattern)
{
    const char *at = strchr(pattern, '{');

    if (at == NULL)
        return;
    json_write_key(w, STR("parameters"));
    json_open_array(w);
    for (; at != NULL; at = strchr(at, '{')) {
        const size_t n = strcspn(++at, "}");

        put_argument(w, (struct str){at, n});
    }
    json_close_array(w);
}

/* The words are of a port of their own, and are no part of the API. */
static bool is_first(const struct route *routes, size_t i)
{
    if (routes[i].role == ROLE_WORDS)
        return false;
    for (size_t k = 0; k < i; k++)
        if (strcmp(routes[k].pattern, routes[i].pattern) == 0)
            return false;
    return true;
}

static void put_paths(struct json_writer *w, const struct route *routes, size_t n)
{
    json_write_key(w, STR("paths"));
    json_open_object(w);
    for (size_t i = 0; i < n; i++) {
        if (!is_first(routes, i))
            continue;
        json_write_key(w, str_from(routes[i].pattern));
        json_open_object(w);
        put_arguments(w, routes[i].pattern);
        for (size_t k = i; k < n; k++)
            if (strcmp(routes[k].pattern, routes[i].pattern) == 0)
                put_operation(w, &routes[k]);
        json_close_object(w);
    }
    json_close_object(w);
}

/* ---- the whole ---- */

static void put_components(struct json_writer *w)
{
    struct buf schemas = {0};

    buf_append_char(&schemas, '{');
    for (size_t i = 0; i < n_operation_forms; i++)
        buf_append(&schemas, str_from(operation_forms[i]));
    buf_append_char(&schemas, '}');
    json_write_key(w, STR("components"));
    json_open_object(w);
    json_put_raw(w, STR("schemas"), buf_str(&schemas));
    json_put_raw(w, STR("parameters"),
                 STR("{\"If-Match\":{\"name\":\"If-Match\",\"in\":\"header\","
                     "\"description\":\"The ETag of the definitions that the change is made "
                     "from; without it, or with *, any revision will do.\","
                     "\"schema\":{\"type\":\"string\"}},"
                     "\"Idempotency-Key\":{\"name\":\"Idempotency-Key\",\"in\":\"header\","
                     "\"description\":\"With the same key within a day, the request is carried "
                     "out once, and answered alike.\",\"schema\":{\"type\":\"string\","
                     "\"pattern\":\"^[!-~]{1,255}$\"}},"
                     "\"why\":{\"name\":\"why\",\"in\":\"query\",\"description\":\"The "
                     "reason, which the audit log keeps: 1000 bytes at most.\","
                     "\"schema\":{\"type\":\"string\"}}}"));
    json_put_raw(w, STR("securitySchemes"),
                 STR("{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"},"
                     "\"login\":{\"type\":\"apiKey\",\"in\":\"cookie\","
                     "\"name\":\"" SESSION_COOKIE "\"}}"));
    put_problems(w);
    json_close_object(w);
    buf_free(&schemas);
}

/* The port first, if its paths have a prefix. */
static void put_servers(struct json_writer *w, struct str prefix)
{
    json_write_key(w, STR("servers"));
    json_open_array(w);
    if (prefix.len > 0) {
        json_open_object(w);
        json_put_string(w, STR("url"), prefix);
        json_put_cstr(w, STR("description"), "at the port: below web.prefix");
        json_close_object(w);
    }
    json_write_raw(w, STR("{\"url\":\"http://localhost\",\"description\":\"on the unix socket: "
                          "curl --unix-socket DATA/millrace.sock "
                          "http://localhost/api/v1/status\"}"));
    json_close_array(w);
}

void openapi_append(const struct route *routes, size_t n, const struct openapi_facts *facts,
                    struct buf *out)
{
    struct json_writer w = {.out = out};

    json_open_object(&w);
    json_put_cstr(&w, STR("openapi"), "3.1.0");
    json_write_key(&w, STR("info"));
    json_open_object(&w);
    json_put_cstr(&w, STR("title"), "Millrace");
    json_put_string(&w, STR("version"), facts->version);
    json_put_cstr(&w, STR("description"), ABOUT);
    json_close_object(&w);
    put_servers(&w, facts->prefix);
    put_paths(&w, routes, n);
    put_components(&w);
    json_close_object(&w);
    buf_append_char(out, '\n');
}
