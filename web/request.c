#include "config.h"

#include "web/request.h"

#include "src/base/arena.h"
#include "src/base/fix.h"
#include "src/base/hex.h"
#include "src/base/random.h"
#include "src/base/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define STRICT_S "2592000" /* 30 days */

static const char *const method_name[N_METHODS] = {
    [METHOD_GET] = "GET",     [METHOD_POST] = "POST",     [METHOD_PUT] = "PUT",
    [METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE",
};

enum request_method request_method_parse(struct str name)
{
    if (str_equal(name, STR("HEAD")))
        return METHOD_GET;
    for (int m = 0; m < N_METHODS; m++)
        if (str_equal(name, str_from(method_name[m])))
            return (enum request_method)m;
    return N_METHODS;
}

const char *request_method_name(enum request_method m)
{
    return m < N_METHODS ? method_name[m] : "?";
}

/* ---- the target ---- */

/* Percent-decode raw into a.  Returns false for a broken escape, a NUL or invalid UTF-8. */
static bool decode(struct str *out, struct arena *a, struct str raw, bool plus_is_space)
{
    char *p = arena_alloc(a, raw.len + 1, 1);
    size_t n = 0;

    for (size_t i = 0; i < raw.len; i++) {
        int c = (unsigned char)raw.ptr[i];

        if (c == '%') {
            c = hex_byte(raw, i + 1);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (c <= 0)
            return false;
        p[n++] = (char)c;
    }
    *out = (struct str){p, n};
    return utf8_valid(*out);
}

/*
 * Cut *rest at c: return the part before c, and leave in *rest the part after it.  Without a c,
 * returns all of it.
 */
static struct str cut(struct str *rest, char c)
{
    const char *end = rest->len > 0 ? memchr(rest->ptr, c, rest->len) : NULL;
    size_t n = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
    struct str head = {rest->ptr, n};

    *rest = end != NULL ? (struct str){end + 1, rest->len - n - 1} : (struct str){NULL, 0};
    return head;
}

static bool bad_target(struct err *err, const char *why)
{
    return err_set_code(err, ERR_REJECT, "http", 400, "the request's address %s", why);
}

static bool parse_path(struct request_target *t, struct arena *a, struct str path,
                       struct err *err)
{
    if (path.len == 0 || path.ptr[0] != '/')
        return bad_target(err, "is not an absolute path");
    if (path.len == 1)
        return true;
    path = (struct str){path.ptr + 1, path.len - 1};
    while (path.ptr != NULL) {
        struct str s;

        if (t->n_segments == REQUEST_SEGMENTS_MAX)
            return bad_target(err, "has too many parts");
        if (!decode(&s, a, cut(&path, '/'), false))
            return bad_target(err, "has a broken percent escape or is not UTF-8");
        if (s.len == 0 || str_equal(s, STR(".")) || str_equal(s, STR("..")))
            return bad_target(err, "has an empty or dot part");
        t->segments[t->n_segments++] = s;
    }
    return true;
}

static bool parse_query(struct request_target *t, struct arena *a, struct str query,
                        struct err *err)
{
    while (query.ptr != NULL) {
        struct str value = cut(&query, '&');
        struct str name = cut(&value, '=');

        if (name.len == 0 && value.len == 0)
            continue;
        if (t->n_params == REQUEST_PARAMS_MAX)
            return bad_target(err, "has too many parameters");

        struct request_param *p = &t->params[t->n_params++];

        if (!decode(&p->name, a, name, true) || !decode(&p->value, a, value, true))
            return bad_target(err, "has a broken percent escape or is not UTF-8");
    }
    return true;
}

bool request_target_parse(struct request_target *out, struct arena *a, struct str raw,
                          struct err *err)
{
    *out = (struct request_target){.raw = raw};

    struct str path = cut(&raw, '?');

    return parse_path(out, a, path, err) && parse_query(out, a, raw, err);
}

struct str request_param(const struct request_target *t, const char *name)
{
    for (size_t i = 0; i < t->n_params; i++)
        if (str_equal(t->params[i].name, str_from(name)))
            return t->params[i].value;
    return (struct str){NULL, 0};
}

/* ---- the host ---- */

static bool is_port(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return true;
}

/* Strip the port from "name:7700" or "[::1]:7700"; returns any other form unchanged. */
struct str request_host_name(struct str host)
{
    const bool in_brackets = host.len > 0 && host.ptr[0] == '[';
    const char *end = in_brackets ? memchr(host.ptr, ']', host.len) : host.ptr;

    if (host.len == 0 || end == NULL)
        return host;

    const size_t n = (size_t)(end - host.ptr);
    struct str port = {end, host.len - n};
    const struct str before = cut(&port, ':');

    return is_port(port) ? (struct str){host.ptr, n + before.len} : host;
}

bool request_host_allowed(struct str host, struct str listen_host)
{
    static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};
    struct str name = request_host_name(host);

    for (size_t i = 0; i < ARRAY_LEN(local); i++)
        if (str_equal_any_case(name, str_from(local[i])))
            return true;
    return listen_host.len > 0 && str_equal_any_case(name, listen_host);
}

bool request_sees_rows(const struct request *req)
{
    return req->role >= ROLE_OPERATOR || req->sees_rows;
}

/* ---- problems ---- */

static const struct {
    int status;
    const char *text;
    const char *code;
} statuses[] = {
    {200, "OK", ""},
    {201, "Created", ""},
    {202, "Accepted", ""},
    {304, "Not Modified", ""},
    {308, "Permanent Redirect", "moved"},
    {400, "Bad Request", "bad-request"},
    {401, "Unauthorized", "log-in-needed"},
    {403, "Forbidden", "forbidden"},
    {404, "Not Found", "not-found"},
    {405, "Method Not Allowed", "method-not-allowed"},
    {408, "Request Timeout", "too-slow"},
    {409, "Conflict", "conflict"},
    {411, "Length Required", "no-length"},
    {412, "Precondition Failed", "changed-meanwhile"},
    {413, "Content Too Large", "too-large"},
    {415, "Unsupported Media Type", "not-json"},
    {421, "Misdirected Request", "wrong-host"},
    {422, "Unprocessable Content", "refused"},
    {423, "Locked", "not-its-turn"},
    {429, "Too Many Requests", "too-often"},
    {431, "Request Header Fields Too Large", "too-large"},
    {500, "Internal Server Error", "internal"},
    {503, "Service Unavailable", "try-again"},
};

static size_t status_row(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (statuses[i].status == status)
            return i;
    return status_row(status < 500 ? 400 : 500);
}

const char *response_status_text(int status)
{
    return statuses[status_row(status)].text;
}

/* The admin page loads its own files, and asks the API of the daemon that it came from. */
#define PAGE_POLICY                                                                   \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " \
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/*
 * The content security policy of any other answer: nothing may be loaded, framed or sent,
 * except the status page's own style sheet.
 */
static void policy(char out[256], const struct response *res)
{
    snprintf(out, 256,
             "default-src 'none'; %s%s%sbase-uri 'none'; form-action 'none'; "
             "frame-ancestors 'none'",
             res->nonce[0] != '\0' ? "style-src 'nonce-" : "", res->nonce,
             res->nonce[0] != '\0' ? "'; " : "");
}

void response_each_header(const struct response *res,
                          void (*on_header)(void *cls, const char *name, const char *value),
                          void *cls)
{
    char text[256];

    policy(text, res);
    on_header(cls, "Content-Type", res->type);
    on_header(cls, "Cache-Control", res->cache != NULL ? res->cache : "no-store");
    on_header(cls, "X-Content-Type-Options", "nosniff");
    on_header(cls, "Referrer-Policy", "no-referrer");
    on_header(cls, "Cross-Origin-Resource-Policy", "same-origin");
    on_header(cls, "Content-Security-Policy", res->is_of_page ? PAGE_POLICY : text);
    on_header(cls, "Connection", "close");
    if (res->is_strict)
        on_header(cls, "Strict-Transport-Security", "max-age=" STRICT_S);
    if (res->status == 401)
        on_header(cls, "WWW-Authenticate", "Bearer");
    if (res->status == 429 || res->status == 503)
        on_header(cls, "Retry-After", "1");
    for (size_t i = 0; i < res->n_headers; i++)
        on_header(cls, res->headers[i].name, res->headers[i].value);
}

static void write_header(void *cls, const char *name, const char *value)
{
    buf_printf(cls, "%s: %s\r\n", name, value);
}

void response_format(struct buf *out, const struct response *res)
{
    buf_printf(out, "HTTP/1.1 %d %s\r\n", res->status, response_status_text(res->status));
    response_each_header(res, write_header, out);
    buf_printf(out, "Content-Length: %zu\r\n\r\n", res->body.len);
    buf_append(out, buf_str(&res->body));
}

void response_add_header(struct response *res, const char *name, const char *value)
{
    assert(res->n_headers < RESPONSE_HEADERS_MAX);

    struct response_header *h = &res->headers[res->n_headers++];

    assert(strlen(value) < sizeof(h->value));
    h->name = name;
    snprintf(h->value, sizeof(h->value), "%s", value);
}

static void add_member(struct buf *b, const char *name, struct str value)
{
    if (value.len == 0)
        return;
    buf_printf(b, ",\"%s\":", name);
    buf_append_json(b, value);
}

void response_set_problem(struct response *res, const struct response_problem *p)
{
    const char *code = p->code != NULL ? p->code : statuses[status_row(p->status)].code;

    res->status = p->status;
    res->type = "application/problem+json";
    buf_clear(&res->body);
    buf_printf(&res->body, "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d",
               response_status_text(p->status), p->status);
    add_member(&res->body, "detail", p->detail);
    add_member(&res->body, "code", str_from(code));
    add_member(&res->body, "fix", p->fix);
    if (p->errors_json.len > 0)
        buf_printf(&res->body, ",\"errors\":%" STR_FMT, STR_ARG(p->errors_json));
    buf_append(&res->body, STR("}\n"));
}

void response_ask_for_token(struct response *res, struct str detail)
{
    response_set_problem(
        res, &(struct response_problem){
                 .status = 401,
                 .detail = detail,
                 .fix = STR("log in, or send a token as Authorization: Bearer TOKEN (millrace "
                            "token add makes one); the millrace command needs neither")});
}

/* A refusal may name its status: what the request lacks, or that a later try may succeed. */
static bool is_refusal_status(int code)
{
    return (code >= 400 && code <= 499) || code == 503;
}

int response_err_status(const struct err *err)
{
    switch (err->kind) {
    case ERR_REJECT: return is_refusal_status(err->code) ? err->code : 422;
    case ERR_RETRY:
    case ERR_STOP: return 503;
    case ERR_NONE:
    case ERR_FATAL: return 500;
    }
    return 500;
}

void response_set_err(struct response *res, const struct err *err, struct str errors_json)
{
    struct response_problem p = {.status = response_err_status(err),
                                 .detail = str_from(err->msg),
                                 .errors_json = errors_json};

    p.fix = fix_split(&p.detail);
    response_set_problem(res, &p);
}

void response_set_nonce(struct response *res)
{
    unsigned char bytes[16];

    random_bytes(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(res->nonce + 2 * i, 3, "%02x", bytes[i]);
}

void answer(struct api_call *c, int status, bool ok, const struct err *err)
{
    struct response *res = c->res;

    if (ok) {
        res->status = status;
        return;
    }

    struct buf errors = res->body;
    bool is_list = errors.len > 0 && errors.ptr[0] == '[';

    res->body = (struct buf){0};
    response_set_err(res, err, is_list ? buf_str(&errors) : STR(""));
    buf_free(&errors);
}

void answer_bad(struct api_call *c, const char *detail)
{
    response_set_problem(c->res,
                         &(struct response_problem){.status = 400, .detail = str_from(detail)});
}
