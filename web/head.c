#include "config.h"

#include "web/head.h"

#include "src/base/arena.h"
#include "web/body.h"

#include <string.h>

/* The fields we use; each may occur once, but for Accept-Encoding, where the first counts. */
enum field {
    FIELD_HOST = 0,
    FIELD_LENGTH,
    FIELD_TYPE,
    FIELD_CODING,
    FIELD_IF_MATCH,
    FIELD_AUTHORIZATION,
    FIELD_COOKIE,
    FIELD_ORIGIN,
    FIELD_IF_NONE_MATCH,
    FIELD_ACCEPT_ENCODING,
    FIELD_IDEMPOTENCY_KEY,
    FIELD_LAST_EVENT_ID,
    N_FIELDS,
};

static const char *const field_name[N_FIELDS] = {
    [FIELD_HOST] = "Host",
    [FIELD_LENGTH] = "Content-Length",
    [FIELD_TYPE] = "Content-Type",
    [FIELD_CODING] = "Transfer-Encoding",
    [FIELD_IF_MATCH] = "If-Match",
    [FIELD_AUTHORIZATION] = "Authorization",
    [FIELD_COOKIE] = "Cookie",
    [FIELD_ORIGIN] = "Origin",
    [FIELD_IF_NONE_MATCH] = "If-None-Match",
    [FIELD_ACCEPT_ENCODING] = "Accept-Encoding",
    [FIELD_IDEMPOTENCY_KEY] = "Idempotency-Key",
    [FIELD_LAST_EVENT_ID] = "Last-Event-ID",
};

static enum head_state refuse(struct err *err, int status, const char *why)
{
    err_set_code(err, ERR_REJECT, "http", status, "the request's head %s", why);
    return HEAD_BAD;
}

/* ---- characters ---- */

/* True if s is a valid name of a method or field. */
static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c) != NULL)
            return false;
    }
    return s.len > 0;
}

static bool is_host(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"#/<>?@\\^`{|}", c) != NULL)
            return false;
    }
    return true;
}

static struct str trim(struct str s)
{
    while (s.len > 0 && strchr(" \t", s.ptr[0]) != NULL)
        s = (struct str){s.ptr + 1, s.len - 1};
    while (s.len > 0 && strchr(" \t", s.ptr[s.len - 1]) != NULL)
        s.len--;
    return s;
}

/*
 * Cut *rest at c: return the part before c, and leave in *rest the part after it.  Without a c,
 * returns nothing and leaves *rest unchanged.
 */
static struct str cut(struct str *rest, char c)
{
    const char *end = rest->len > 0 ? memchr(rest->ptr, c, rest->len) : NULL;

    if (end == NULL)
        return (struct str){NULL, 0};

    struct str part = {rest->ptr, (size_t)(end - rest->ptr)};

    *rest = (struct str){end + 1, rest->len - part.len - 1};
    return part;
}

/* ---- lines ---- */

/* Why c may not be in a line; NULL: it may. */
static const char *control(unsigned char c)
{
    if (c == '\n')
        return "has a line feed without a carriage return";
    if (c == '\0')
        return "has a NUL";
    return (c < ' ' && c != '\t') || c == 0x7f ? "has a control character" : NULL;
}

/* Take the next line of *rest, without its line end. */
static enum head_state next_line(struct str *line, struct str *rest, struct err *err)
{
    for (size_t i = 0; i < rest->len; i++) {
        unsigned char c = (unsigned char)rest->ptr[i];

        if (c != '\r') {
            const char *why = control(c);

            if (why != NULL)
                return refuse(err, 400, why);
            continue;
        }
        if (i + 1 == rest->len)
            return HEAD_MORE;
        if (rest->ptr[i + 1] != '\n')
            return refuse(err, 400, "has a carriage return without a line feed");
        *line = (struct str){rest->ptr, i};
        *rest = (struct str){rest->ptr + i + 2, rest->len - i - 2};
        return HEAD_DONE;
    }
    return HEAD_MORE;
}

static enum head_state first_line(struct head *out, struct str line, bool *is_1_1,
                                  struct err *err)
{
    out->method = cut(&line, ' ');
    out->target = cut(&line, ' ');
    *is_1_1 = str_equal(line, STR("HTTP/1.1"));
    if (!is_token(out->method) || out->target.len == 0 ||
        memchr(out->target.ptr, '\t', out->target.len) != NULL)
        return refuse(err, 400, "does not begin with a method, an address and a version");
    if (!*is_1_1 && !str_equal(line, STR("HTTP/1.0")))
        return refuse(err, 400, "is neither HTTP/1.1 nor HTTP/1.0");
    return HEAD_DONE;
}

static enum head_state field_line(struct str fields[N_FIELDS], struct str line, struct err *err)
{
    if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return refuse(err, 400, "has a field of several lines");

    struct str name = cut(&line, ':');

    if (!is_token(name))
        return refuse(err, 400, "has a line that is not a field");
    for (int i = 0; i < N_FIELDS; i++) {
        if (!str_equal_any_case(name, str_from(field_name[i])))
            continue;
        if (fields[i].ptr != NULL && i == FIELD_ACCEPT_ENCODING)
            continue;
        if (fields[i].ptr != NULL)
            return refuse(err, 400, "repeats a field that may appear only once");
        fields[i] = trim(line);
    }
    return HEAD_DONE;
}

/* ---- the whole ---- */

static enum head_state judge(struct head *out, const struct str fields[N_FIELDS], bool is_1_1,
                             struct err *err)
{
    const struct str length = fields[FIELD_LENGTH];

    if (is_1_1 && fields[FIELD_HOST].ptr == NULL)
        return refuse(err, 400, "has no Host");
    if (!is_host(fields[FIELD_HOST]))
        return refuse(err, 400, "has a Host that is not a name");
    if (fields[FIELD_CODING].ptr != NULL && length.ptr != NULL)
        return refuse(err, 400, "has both Content-Length and Transfer-Encoding");
    if (fields[FIELD_CODING].ptr != NULL)
        return refuse(err, 411,
                      "has a Transfer-Encoding; fix: send the body with Content-Length");
    if (length.ptr != NULL && !body_parse_uint(length, &out->content_length))
        return refuse(err, 400, "has a Content-Length that is not a number");
    out->host = fields[FIELD_HOST];
    out->content_type = fields[FIELD_TYPE];
    out->if_match = fields[FIELD_IF_MATCH];
    out->authorization = fields[FIELD_AUTHORIZATION];
    out->cookie = fields[FIELD_COOKIE];
    out->origin = fields[FIELD_ORIGIN];
    out->if_none_match = fields[FIELD_IF_NONE_MATCH];
    out->accept_encoding = fields[FIELD_ACCEPT_ENCODING];
    out->idempotency_key = fields[FIELD_IDEMPOTENCY_KEY];
    out->last_event_id = fields[FIELD_LAST_EVENT_ID];
    return HEAD_DONE;
}

enum head_state head_parse(struct head *out, struct str raw, struct err *err)
{
    struct str rest = {raw.ptr, raw.len < HEAD_BYTES_MAX ? raw.len : HEAD_BYTES_MAX};
    struct str fields[N_FIELDS] = {{NULL, 0}};
    enum head_state state;
    struct str line = {NULL, 0};
    bool is_1_1 = false;

    *out = (struct head){0};
    for (size_t n = 0; (state = next_line(&line, &rest, err)) == HEAD_DONE; n++) {
        if (n > 0 && line.len == 0)
            return judge(out, fields, is_1_1, err);
        if (n > HEAD_FIELDS_MAX)
            return refuse(err, 431, "has too many fields");
        state = n == 0 ? first_line(out, line, &is_1_1, err) : field_line(fields, line, err);
        if (state == HEAD_BAD)
            return state;
    }
    if (state == HEAD_MORE && raw.len >= HEAD_BYTES_MAX)
        return refuse(err, 431, "is too large");
    return state;
}

static struct str keep(struct arena *a, struct str s)
{
    return s.ptr != NULL ? arena_copy(a, s) : s;
}

struct head head_copy(const struct head *h, struct arena *a)
{
    return (struct head){.method = keep(a, h->method),
                         .target = keep(a, h->target),
                         .host = keep(a, h->host),
                         .content_type = keep(a, h->content_type),
                         .if_match = keep(a, h->if_match),
                         .if_none_match = keep(a, h->if_none_match),
                         .accept_encoding = keep(a, h->accept_encoding),
                         .idempotency_key = keep(a, h->idempotency_key),
                         .authorization = keep(a, h->authorization),
                         .cookie = keep(a, h->cookie),
                         .origin = keep(a, h->origin),
                         .last_event_id = keep(a, h->last_event_id),
                         .content_length = h->content_length};
}
