#include "config.h"

#include "sync/document/transform_apply.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "sync/definition/transform.h"

#include <ctype.h>
#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHOWN_MAX 64 /* bytes of a text to quote in an error */
#define SHA_BYTES 32

struct span {
    size_t at, len;
};

/* The texts between two steps. */
struct texts {
    struct buf bytes;
    struct span *spans;
    size_t n;
    bool is_array;
    bool is_json; /* they already are JSON values */
};

static struct str get(const struct texts *t, size_t i)
{
    return (struct str){t->spans[i].len == 0 ? "" : t->bytes.ptr + t->spans[i].at,
                        t->spans[i].len};
}

static void add(struct texts *t, struct str text)
{
    t->spans = mem_resize(t->spans, t->n + 1, sizeof(*t->spans));
    t->spans[t->n++] = (struct span){t->bytes.len, text.len};
    buf_append(&t->bytes, text);
}

static void fini(struct texts *t)
{
    buf_free(&t->bytes);
    free(t->spans);
}

static bool refuse(struct str text, const char *why, struct err *err)
{
    return err_set(err, ERR_REJECT, "`%.*s` %s",
                   text.len < SHOWN_MAX ? (int)text.len : SHOWN_MAX, text.ptr, why);
}

void transform_append_text(struct buf *text, struct str json)
{
    if (json.len >= 2 && json.ptr[0] == '"')
        json_unescape(text, (struct str){json.ptr + 1, json.len - 2});
    else
        buf_append(text, json);
}

/* ---- the steps; each adds what it makes of one text ---- */

typedef bool (*step_fn)(const struct transform *step, struct str text, struct texts *out,
                        struct err *err);

static bool keep(const struct transform *step, struct str text, struct texts *out,
                 struct err *err)
{
    (void)step;
    (void)err;
    add(out, text);
    return true;
}

static struct str trimmed(struct str s)
{
    while (s.len > 0 && isspace((unsigned char)s.ptr[0]))
        s = (struct str){s.ptr + 1, s.len - 1};
    while (s.len > 0 && isspace((unsigned char)s.ptr[s.len - 1]))
        s.len--;
    return s;
}

static bool trim(const struct transform *step, struct str text, struct texts *out,
                 struct err *err)
{
    return keep(step, trimmed(text), out, err);
}

/* An empty text has no elements. */
static bool split(const struct transform *step, struct str text, struct texts *out,
                  struct err *err)
{
    (void)err;
    out->is_array = true;
    while (text.len > 0) {
        const char *end = memmem(text.ptr, text.len, step->by.ptr, step->by.len);
        const size_t n = end == NULL ? text.len : (size_t)(end - text.ptr);
        const size_t used = end == NULL ? n : n + step->by.len;

        add(out, (struct str){text.ptr, n});
        text = (struct str){text.ptr + used, text.len - used};
        if (end != NULL && text.len == 0)
            add(out, STR(""));
    }
    return true;
}

/* Tell whether the format has one of these conversions. */
static bool reads(const char *format, const char *conversions)
{
    for (; (format = strchr(format, '%')) != NULL && format[1] != '\0'; format += 2)
        if (strchr(conversions, format[1]) != NULL)
            return true;
    return false;
}

/* Print ISO 8601; a time with an offset converts to UTC. */
static size_t append_iso(char *iso, size_t cap, struct tm *tm, const char *format)
{
    if (!reads(format, "HIklMSTRrcXp"))
        return strftime(iso, cap, "%Y-%m-%d", tm);
    if (!reads(format, "z"))
        return strftime(iso, cap, "%Y-%m-%dT%H:%M:%S", tm);

    const long offset = tm->tm_gmtoff;
    const time_t utc = timegm(tm) - offset;

    (void)gmtime_r(&utc, tm);
    return strftime(iso, cap, "%Y-%m-%dT%H:%M:%SZ", tm);
}

static bool epoch_date(struct str text, bool millis, struct texts *out, struct err *err)
{
    char digits[24], iso[40];
    char *end;
    struct tm tm;

    if (text.len == 0 || text.len >= sizeof(digits))
        return refuse(text, "is not a time since 1970", err);
    memcpy(digits, text.ptr, text.len);
    digits[text.len] = '\0';

    const long long n = strtoll(digits, &end, 10);
    long long part = millis ? n % 1000 : 0;
    time_t seconds = (time_t)(millis ? n / 1000 : n);

    if (part < 0) {
        part += 1000;
        seconds--;
    }
    if (*end != '\0' || gmtime_r(&seconds, &tm) == NULL || tm.tm_year < -1900 ||
        tm.tm_year > 8099)
        return refuse(text, "is not a time since 1970", err);

    size_t len = strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%S", &tm);

    len += (size_t)(millis ? snprintf(iso + len, sizeof(iso) - len, ".%03lldZ", part)
                           : snprintf(iso + len, sizeof(iso) - len, "Z"));
    add(out, (struct str){iso, len});
    return true;
}

/* Parse with strptime(3), and also reject the 31st of February. */
static bool date(const struct transform *step, struct str text, struct texts *out,
                 struct err *err)
{
    struct buf input = {0};
    struct tm tm = {.tm_mday = 1}, normal;
    char iso[40];
    const char *end = NULL;

    if (str_equal(step->format, STR("epoch_second")) ||
        str_equal(step->format, STR("epoch_millis")))
        return epoch_date(trimmed(text), str_equal(step->format, STR("epoch_millis")), out,
                          err);
    buf_append(&input, trimmed(text));
    if (input.len > 0 && memchr(input.ptr, '\0', input.len) == NULL)
        end = strptime(input.ptr, step->format.ptr, &tm);
    normal = tm;
    (void)timegm(&normal);

    const bool fine = end != NULL && *end == '\0' && normal.tm_mday == tm.tm_mday &&
                      normal.tm_mon == tm.tm_mon && tm.tm_year >= -1900;

    buf_free(&input);
    if (!fine)
        return refuse(text, "is not a date in the `format` of its `transform`", err);
    add(out, (struct str){iso, append_iso(iso, sizeof(iso), &tm, step->format.ptr)});
    return true;
}

static bool is_number(struct str text)
{
    struct json_reader r;
    struct str number;
    struct err ignored = {0};

    json_reader_init(&r, text);
    return json_peek(&r) == JSON_NUMBER && json_read_number(&r, &number) &&
           json_reader_finish(&r, &ignored);
}

/* Tell whether all digits of a number are 0. */
static bool is_zero(struct str number)
{
    for (size_t i = 0; i < number.len; i++) {
        if (number.ptr[i] == 'e' || number.ptr[i] == 'E')
            break;
        if (number.ptr[i] >= '1' && number.ptr[i] <= '9')
            return false;
    }
    return true;
}

static bool boolean(const struct transform *step, struct str text, struct texts *out,
                    struct err *err)
{
    static const struct {
        const char *word;
        bool is;
    } words[] = {{"true", true}, {"t", true},      {"yes", true}, {"y", true},
                 {"on", true},   {"false", false}, {"f", false},  {"no", false},
                 {"n", false},   {"off", false},   {"", false}};
    const struct str s = trimmed(text);

    (void)step;
    out->is_json = true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_equal_any_case(s, str_from(words[i].word))) {
            add(out, words[i].is ? STR("true") : STR("false"));
            return true;
        }
    if (!is_number(s))
        return refuse(text, "is neither true nor false", err);
    add(out, is_zero(s) ? STR("false") : STR("true"));
    return true;
}

static bool number(const struct transform *step, struct str text, struct texts *out,
                   struct err *err)
{
    (void)step;
    out->is_json = true;
    if (!is_number(trimmed(text)))
        return refuse(text, "is not a number", err);
    add(out, trimmed(text));
    return true;
}

static bool json(const struct transform *step, struct str text, struct texts *out,
                 struct err *err)
{
    struct json_reader r;
    struct str raw;
    struct err why = {0};

    (void)step;
    out->is_json = true;
    json_reader_init(&r, text);
    if (!json_read_raw(&r, &raw) || !json_reader_finish(&r, &why))
        return refuse(text, "is not JSON", err);
    add(out, raw);
    return true;
}

static bool mask(const struct transform *step, struct str text, struct texts *out,
                 struct err *err)
{
    unsigned char sum[SHA_BYTES];
    char hex[2 * SHA_BYTES + 1];

    if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, step->salt.ptr, step->salt.len, text.ptr, text.len,
                         sum) != 0)
        return err_set(err, ERR_FATAL, "HMAC-SHA-256 is not available");
    for (size_t i = 0; i < SHA_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", sum[i]);
    add(out, (struct str){hex, 2 * SHA_BYTES});
    return true;
}

static const step_fn steps[N_TRANSFORM_KINDS] = {
    [TRANSFORM_TEXT] = keep,     [TRANSFORM_TRIM] = trim, [TRANSFORM_SPLIT] = split,
    [TRANSFORM_JOIN] = keep,     [TRANSFORM_DATE] = date, [TRANSFORM_BOOLEAN] = boolean,
    [TRANSFORM_NUMBER] = number, [TRANSFORM_JSON] = json, [TRANSFORM_MASK] = mask,
};

static void append(const struct texts *t, struct buf *out)
{
    if (t->is_array)
        buf_append_char(out, '[');
    for (size_t i = 0; i < t->n; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        if (t->is_json)
            buf_append(out, get(t, i));
        else
            buf_append_json(out, get(t, i));
    }
    if (t->is_array)
        buf_append_char(out, ']');
}

bool transform_apply(const struct transforms *t, struct str text, struct buf *out,
                     struct err *err)
{
    struct texts now = {0};
    bool fine = true;

    add(&now, text);
    for (size_t i = 0; fine && i < t->n; i++) {
        struct texts next = {.is_array = now.is_array};

        for (size_t k = 0; fine && k < now.n; k++)
            fine = steps[t->steps[i].kind](&t->steps[i], get(&now, k), &next, err);
        fini(&now);
        now = next;
    }
    if (fine)
        append(&now, out);
    fini(&now);
    return fine;
}
