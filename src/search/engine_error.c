#include "config.h"

#include "src/search/engine_error.h"

#include "src/base/buf.h"
#include "src/format/json.h"

#include <string.h>

#define REASON_MAX 300

#define DISKS "; the engine's disks are too full: make room, then it goes on by itself"
#define CLOCK                                                                            \
    "; this machine's clock is wrong: set it (by NTP, for example), then it goes on by " \
    "itself"
#define LEADER "; the engine is starting, or has no leader, or a proxy does not reach it"

/* The first row that matches decides. */
static const struct rule {
    int status;        /* 0: any */
    const char *words; /* parts that the body contains in this order; NULL: any body */
    const char *then;
    enum err_kind kind;
    const char *fix;
} rules[] = {
    /*
     * These blocks go once somebody frees disk space: of an index, of new indexes (OpenSearch).
     */
    {0, "_block_exception", "/12/", ERR_RETRY, DISKS},
    {0, "_block_exception", "/10/cluster create-index blocked", ERR_RETRY, DISKS},

    /* During an upgrade nodes of two major versions answer. */
    {400, "media_type_header_exception", NULL, ERR_RETRY,
     "; this node is of an older major version than the one that was asked first: upgrade all "
     "nodes, or restart Millrace if one went back"},

    /* AWS: {"message": ...} */
    {403, "Signature expired", NULL, ERR_RETRY, CLOCK},
    {403, "Signature not yet current", NULL, ERR_RETRY, CLOCK},
    {403, "signature we calculated does not match", NULL, ERR_REJECT,
     "; check the secret of the key (search.aws_secret_file), search.aws_region and "
     "search.aws_service, and that no proxy changes requests"},
    {403, "security token included in the request is expired", NULL, ERR_REJECT,
     "; the session of the key has ended: give Millrace a new key with its token, and restart "
     "it"},
    {403, "security token included in the request is invalid", NULL, ERR_REJECT,
     "; AWS does not know this key there: check search.aws_key_id, its session token and "
     "search.aws_region"},
    {403, "Credential should be scoped", NULL, ERR_REJECT,
     "; check search.aws_region and search.aws_service"},
    {403, "issing Authentication Token", NULL, ERR_REJECT,
     "; the engine wants signed requests: set search.aws_region and a key"},
    {403, "is not authorized to perform", NULL, ERR_REJECT,
     "; allow it in the access policy of the domain or collection"},

    {401, NULL, NULL, ERR_REJECT,
     "; user and password, or the API key, are wrong or missing: see search.user and "
     "search.password_file"},
    {403, NULL, NULL, ERR_REJECT,
     "; the user has no right to do this: give it all rights on these indexes"},
    {408, NULL, NULL, ERR_RETRY, ""},
    {429, NULL, NULL, ERR_RETRY, "; the engine has too much to do"},
    {502, NULL, NULL, ERR_RETRY, LEADER},
    {503, NULL, NULL, ERR_RETRY, LEADER},
    {504, NULL, NULL, ERR_RETRY, LEADER},
};

static bool fits(const struct rule *r, int status, struct str body)
{
    const char *at;

    if (r->status != 0 && r->status != status)
        return false;
    if (r->words == NULL)
        return true;
    at = body.len == 0 ? NULL : memmem(body.ptr, body.len, r->words, strlen(r->words));
    return at != NULL && (r->then == NULL || memmem(at, (size_t)(body.ptr + body.len - at),
                                                    r->then, strlen(r->then)) != NULL);
}

static const struct rule *find(int status, struct str body)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (fits(&rules[i], status, body))
            return &rules[i];
    return NULL;
}

enum err_kind engine_error_kind(int status, struct str body)
{
    const struct rule *r = find(status, body);

    if (r != NULL)
        return r->kind;
    return status >= 500 ? ERR_RETRY : ERR_REJECT;
}

const char *engine_error_fix(int status, struct str body)
{
    const struct rule *r = find(status, body);

    return r != NULL ? r->fix : "";
}

/* Makes one line of what was appended, without a semicolon at its end: the fix follows. */
static void finish_reason(struct buf *out, size_t start)
{
    if (out->len - start > REASON_MAX)
        out->len = start + REASON_MAX;
    while (out->len > start && out->ptr[out->len - 1] == ';')
        out->len--;
    for (size_t i = start; i < out->len; i++)
        if ((unsigned char)out->ptr[i] < 0x20)
            out->ptr[i] = ' ';
    buf_append(out, STR(""));
}

void engine_error_append_reason(struct buf *out, struct str body)
{
    const size_t start = out->len;

    if (json_find_text(body, "/error/root_cause/0/type", out) ||
        json_find_text(body, "/error/type", out)) {
        buf_append(out, STR(": "));
        if (!json_find_text(body, "/error/root_cause/0/reason", out))
            (void)json_find_text(body, "/error/reason", out);
    } else if (!json_find_text(body, "/error", out) && !json_find_text(body, "/message", out) &&
               !json_find_text(body, "/Message", out)) {
        buf_append(out, body);
    }
    finish_reason(out, start);
}

void engine_error_append_cause(struct buf *out, struct str body)
{
    const size_t start = out->len;
    struct str error, cause;

    if (!json_find(body, "/error/caused_by", &error)) {
        engine_error_append_reason(out, body);
        return;
    }
    while (json_find(error, "/caused_by", &cause))
        error = cause;
    (void)json_find_text(error, "/reason", out);
    finish_reason(out, start);
}
