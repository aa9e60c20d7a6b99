#include "config.h"

#include "src/base/log_text.h"

#include "src/base/buf.h"

#include <ctype.h>

#define DIM   "\x1b[2m"
#define PLAIN "\x1b[0m"

static const struct {
    const char *name, *colour;
} looks[] = {
    [LOG_DEBUG] = {"DEBUG", DIM},
    [LOG_INFO] = {"INFO ", "\x1b[32m"},
    [LOG_WARN] = {"WARN ", "\x1b[33m"},
    [LOG_ERROR] = {"ERROR", "\x1b[31m"},
};

static void append_time(struct buf *b, const struct timespec *at)
{
    struct tm tm;

    gmtime_r(&at->tv_sec, &tm);
    buf_printf(b, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", tm.tm_year + 1900, tm.tm_mon + 1,
               tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, at->tv_nsec / 1000000);
}

static bool is_word(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!isgraph((unsigned char)s.ptr[i]) || s.ptr[i] == '"' || s.ptr[i] == '=')
            return false;
    return s.len > 0;
}

/* JSON escapes the control characters below space; escape DEL and U+0080 to U+009F, too. */
static void append_quoted(struct buf *b, struct str s)
{
    struct buf json = {0};

    buf_append_json(&json, s);
    for (size_t i = 0; i < json.len; i++) {
        const unsigned char c = (unsigned char)json.ptr[i];
        const unsigned char next = i + 1 < json.len ? (unsigned char)json.ptr[i + 1] : 0;
        const bool is_c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;

        if (c == 0x7f || is_c1)
            buf_printf(b, "\\u00%02x", is_c1 ? next : c);
        else
            buf_append_char(b, (char)c);
        i += is_c1;
    }
    buf_free(&json);
}

static void append_text(struct buf *b, struct str s)
{
    if (is_word(s))
        buf_append(b, s);
    else
        append_quoted(b, s);
}

static void append_kv(struct buf *b, const struct log_kv *kv, bool colour)
{
    buf_printf(b, " %s%s=%s", colour ? DIM : "", kv->key, colour ? PLAIN : "");
    switch (kv->type) {
    case LOG_KV_STR: append_text(b, kv->value.str); break;
    case LOG_KV_INT: buf_append_i64(b, kv->value.i64); break;
    case LOG_KV_UINT: buf_append_u64(b, kv->value.u64); break;
    case LOG_KV_BOOL: buf_append(b, kv->value.flag ? STR("true") : STR("false")); break;
    }
}

static void append_err(struct buf *b, const struct err *err, bool colour)
{
    const char *origin = err->origin != NULL ? err->origin : "code";

    append_kv(
        b,
        &(struct log_kv){"kind", LOG_KV_STR, .value.str = str_from(err_kind_name(err->kind))},
        colour);
    if (err->code != 0)
        append_kv(b, &(struct log_kv){origin, LOG_KV_INT, .value.i64 = err->code}, colour);
    append_kv(b, &(struct log_kv){"cause", LOG_KV_STR, .value.str = str_from(err->msg)},
              colour);
}

void log_text_append(struct buf *b, const struct log_event *e, bool colour)
{
    buf_append(b, str_from(colour ? DIM : ""));
    append_time(b, &e->at);
    buf_printf(b, "%s %s%s%s %s", colour ? PLAIN : "", colour ? looks[e->level].colour : "",
               looks[e->level].name, colour ? PLAIN : "", e->msg);
    if (e->n_kv > 0 || e->err != NULL)
        buf_append_char(b, ' ');
    for (size_t i = 0; i < e->n_kv; i++)
        append_kv(b, &e->kv[i], colour);
    if (e->err != NULL)
        append_err(b, e->err, colour);
    buf_append_char(b, '\n');
}
