#include "config.h"

#include "src/net/sigv4.h"

#include "src/base/buf.h"
#include "src/base/hex.h"
#include "src/base/mem.h"

#include <assert.h>
#include <ctype.h>
#include <gnutls/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define ALGORITHM "AWS4-HMAC-SHA256"
#define DAY_LEN   8 /* of the date */
#define HASH_SIZE 32

/* *to: where the next text goes; advanced. */
static const char *put_text(char **to, const char *text)
{
    const char *at = *to;

    if (text == NULL)
        return NULL;
    memcpy(*to, text, strlen(text) + 1);
    *to += strlen(text) + 1;
    return at;
}

struct sigv4_key *sigv4_copy_key(const struct sigv4_key *key)
{
    struct sigv4_key *copy;
    char *to;

    if (key == NULL)
        return NULL;
    copy = mem_alloc(1, sizeof(*copy) + strlen(key->region) + strlen(key->service) +
                            strlen(key->id) + strlen(key->secret) +
                            (key->token != NULL ? strlen(key->token) : 0) + 5);
    to = (char *)(copy + 1);
    copy->region = put_text(&to, key->region);
    copy->service = put_text(&to, key->service);
    copy->id = put_text(&to, key->id);
    copy->secret = put_text(&to, key->secret);
    copy->token = put_text(&to, key->token);
    return copy;
}

void sigv4_hash(struct str bytes, char hex[SIGV4_HASH_LEN + 1])
{
    unsigned char digest[HASH_SIZE];
    struct buf text = {0};

    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes.ptr, bytes.len, digest) != 0)
        abort(); /* the library has no SHA-256 */
    buf_append_hex(&text, (struct str){(const char *)digest, sizeof(digest)});
    memcpy(hex, text.ptr, SIGV4_HASH_LEN + 1);
    buf_free(&text);
}

void sigv4_date(int64_t wall_ms, char date[SIGV4_DATE_LEN + 1])
{
    const time_t seconds = wall_ms / 1000;
    struct tm tm;

    if (gmtime_r(&seconds, &tm) == NULL ||
        strftime(date, SIGV4_DATE_LEN + 1, "%Y%m%dT%H%M%SZ", &tm) != SIGV4_DATE_LEN)
        abort(); /* no year of four digits */
}

/* ---- the canonical request ---- */

static void append_encoded(struct buf *out, struct str s)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < s.len; i++) {
        const unsigned char c = (unsigned char)s.ptr[i];

        if (c < 0x80 && (isalnum(c) || strchr("-._~", c) != NULL) && c != '\0') {
            buf_append_char(out, (char)c);
        } else {
            buf_append_char(out, '%');
            buf_append_char(out, hex[c >> 4]);
            buf_append_char(out, hex[c & 15]);
        }
    }
}

/* Removes the last part: "/a/b" becomes "/a". */
static void go_up(struct buf *path)
{
    while (path->len > 0 && path->ptr[path->len - 1] != '/')
        path->len--;
    path->len -= path->len > 0;
}

/* Encodes each part, resolves "." and "..", and collapses repeated slashes. */
static void append_path(struct buf *out, struct str path)
{
    struct buf clean = {0};
    bool open = true; /* the path ends in "/" */

    for (size_t from = 0; from < path.len;) {
        const char *slash = memchr(path.ptr + from, '/', path.len - from);
        const size_t to = slash == NULL ? path.len : (size_t)(slash - path.ptr);
        const struct str part = {path.ptr + from, to - from};

        from = to + 1;
        if (part.len == 0)
            continue;
        open = slash != NULL;
        if (str_equal(part, STR(".")) || str_equal(part, STR(".."))) {
            if (part.len == 2)
                go_up(&clean);
            continue;
        }
        buf_append_char(&clean, '/');
        append_encoded(&clean, part);
    }
    buf_append(out, buf_str(&clean));
    if (open || clean.len == 0)
        buf_append_char(out, '/');
    buf_free(&clean);
}

struct query_parameter {
    struct buf name, value; /* encoded */
};

/* Appends s with canonical encoding, however the query encoded it. */
static void append_normal(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        const int byte = s.ptr[i] == '%' && i + 2 < s.len ? hex_byte(s, i + 1) : -1;
        const char c = byte >= 0 ? (char)byte : s.ptr[i];

        i += byte >= 0 ? 2 : 0;
        append_encoded(out, (struct str){&c, 1});
    }
}

static struct query_parameter read_pair(struct str text)
{
    const char *equals = memchr(text.ptr, '=', text.len);
    const size_t name_len = equals == NULL ? text.len : (size_t)(equals - text.ptr);
    struct query_parameter p = {0};

    append_normal(&p.name, (struct str){text.ptr, name_len});
    if (equals != NULL)
        append_normal(&p.value, (struct str){equals + 1, text.len - name_len - 1});
    return p;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct query_parameter *x = a, *y = b;
    const int order = str_order(buf_str(&x->name), buf_str(&y->name));

    return order != 0 ? order : str_order(buf_str(&x->value), buf_str(&y->value));
}

static size_t count_of(struct str s, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += s.ptr[i] == c;
    return n;
}

static void append_query(struct buf *out, struct str query)
{
    struct query_parameter *pairs = mem_alloc(count_of(query, '&') + 1, sizeof(*pairs));
    size_t n = 0;

    for (size_t from = 0; from < query.len;) {
        const char *end = memchr(query.ptr + from, '&', query.len - from);
        const size_t to = end == NULL ? query.len : (size_t)(end - query.ptr);

        if (to > from)
            pairs[n++] = read_pair((struct str){query.ptr + from, to - from});
        from = to + 1;
    }
    qsort(pairs, n, sizeof(*pairs), compare_pairs);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_append_char(out, '&');
        buf_append(out, buf_str(&pairs[i].name));
        buf_append_char(out, '=');
        buf_append(out, buf_str(&pairs[i].value));
        buf_free(&pairs[i].name);
        buf_free(&pairs[i].value);
    }
    free(pairs);
}

/* ---- the headers ---- */

/* Sorted by name; equal names keep the order in which they are sent. */
struct sorted {
    const struct sigv4_header *of[SIGV4_HEADERS_MAX];
    size_t n;
};

static int compare_names(struct str a, struct str b)
{
    const size_t len = a.len < b.len ? a.len : b.len;
    const int order = strncasecmp(a.ptr, b.ptr, len);

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static struct sorted sort_headers(const struct sigv4_request *r)
{
    struct sorted s = {.n = r->n_headers};

    assert(r->n_headers <= SIGV4_HEADERS_MAX);
    for (size_t i = 0; i < s.n; i++) {
        size_t at = i;

        for (; at > 0 && compare_names(s.of[at - 1]->name, r->headers[i].name) > 0; at--)
            s.of[at] = s.of[at - 1];
        s.of[at] = &r->headers[i];
    }
    return s;
}

static bool is_another(const struct sorted *s, size_t i)
{
    return i > 0 && str_equal_any_case(s->of[i - 1]->name, s->of[i]->name);
}

static void append_lower(struct buf *out, struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        buf_append_char(out, (char)tolower((unsigned char)name.ptr[i]));
}

/* Trims the value and collapses runs of blanks. */
static void append_trimmed(struct buf *out, struct str value)
{
    const size_t from = out->len;

    for (size_t i = 0; i < value.len; i++) {
        const bool blank = value.ptr[i] == ' ' || value.ptr[i] == '\t';

        if (!blank)
            buf_append_char(out, value.ptr[i]);
        else if (out->len > from && out->ptr[out->len - 1] != ' ')
            buf_append_char(out, ' ');
    }
    out->len -= out->len > from && out->ptr[out->len - 1] == ' ';
}

static void append_headers(struct buf *out, const struct sorted *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (is_another(s, i)) {
            out->len--; /* another header of this name follows: continue the line */
            buf_append_char(out, ',');
        } else {
            append_lower(out, s->of[i]->name);
            buf_append_char(out, ':');
        }
        append_trimmed(out, s->of[i]->value);
        buf_append_char(out, '\n');
    }
}

static void append_names(struct buf *out, const struct sorted *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (is_another(s, i))
            continue;
        if (i > 0)
            buf_append_char(out, ';');
        append_lower(out, s->of[i]->name);
    }
}

void sigv4_canonical(const struct sigv4_request *r, struct buf *out)
{
    const struct sorted headers = sort_headers(r);

    buf_append(out, r->method);
    buf_append_char(out, '\n');
    append_path(out, r->path);
    buf_append_char(out, '\n');
    append_query(out, r->query);
    buf_append_char(out, '\n');
    append_headers(out, &headers);
    buf_append_char(out, '\n');
    append_names(out, &headers);
    buf_append_char(out, '\n');
    buf_append(out, str_from(r->payload));
}

/* ---- the signature ---- */

/* Replaces key by the keyed hash of text. */
static void derive(unsigned char key[HASH_SIZE], struct str text)
{
    unsigned char next[HASH_SIZE];

    if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, HASH_SIZE, text.ptr, text.len, next) != 0)
        abort(); /* the library has no SHA-256 */
    memcpy(key, next, HASH_SIZE);
}

/* Derives the signing key of one day, region and service from the secret. */
static void begin_key(const struct sigv4_key *key, struct str day, unsigned char out[HASH_SIZE])
{
    struct buf secret = {0};

    buf_printf(&secret, "AWS4%s", key->secret);
    if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, secret.ptr, secret.len, day.ptr, day.len, out) != 0)
        abort(); /* the library has no SHA-256 */
    explicit_bzero(secret.ptr, secret.len);
    buf_free(&secret);
    derive(out, str_from(key->region));
    derive(out, str_from(key->service));
    derive(out, STR("aws4_request"));
}

void sigv4_authorize(const struct sigv4_key *key, const struct sigv4_request *r,
                     const char *date, struct buf *out)
{
    const struct sorted headers = sort_headers(r);
    struct buf scope = {0}, text = {0};
    char hash[SIGV4_HASH_LEN + 1];
    unsigned char mac[HASH_SIZE];

    buf_printf(&scope, "%.*s/%s/%s/aws4_request", DAY_LEN, date, key->region, key->service);
    sigv4_canonical(r, &text);
    sigv4_hash(buf_str(&text), hash);
    buf_clear(&text);
    buf_printf(&text, ALGORITHM "\n%s\n%s\n%s", date, scope.ptr, hash);
    begin_key(key, (struct str){date, DAY_LEN}, mac);
    derive(mac, buf_str(&text));
    buf_printf(out, ALGORITHM " Credential=%s/%s, SignedHeaders=", key->id, scope.ptr);
    append_names(out, &headers);
    buf_append(out, STR(", Signature="));
    buf_append_hex(out, (struct str){(const char *)mac, sizeof(mac)});
    explicit_bzero(mac, sizeof(mac));
    buf_free(&scope);
    buf_free(&text);
}
