#define _GNU_SOURCE
#include "config.h"

#include "tests/fakes/fake_signature.h"

#include "src/base/mem.h"

#include <curl/curl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SKEW_S    300
#define PARTS_MAX 64
#define MAC       GNUTLS_MAC_SHA256
#define MAC_SIZE  32

static char *text_of(struct str s)
{
    char *text = mem_alloc(s.len + 1, 1);

    if (s.len > 0)
        memcpy(text, s.ptr, s.len);
    return text;
}

static void hex_hash(struct str s, struct buf *out)
{
    unsigned char digest[MAC_SIZE];
    gnutls_hash_hd_t h;

    gnutls_hash_init(&h, GNUTLS_DIG_SHA256);
    gnutls_hash(h, s.ptr, s.len);
    gnutls_hash_deinit(h, digest);
    buf_append_hex(out, (struct str){(const char *)digest, sizeof(digest)});
}

/* What stands between `name` and the next comma. */
static char *field(const char *authorization, const char *name)
{
    const char *at = strstr(authorization, name);

    if (at == NULL)
        return mem_copy("");
    at += strlen(name);
    return text_of((struct str){at, strcspn(at, ",")});
}

static char *header_of(const struct fake_http_request *req, const char *name)
{
    char *head = text_of(req->head), *value = NULL, *save = NULL;

    for (char *line = strtok_r(head, "\r\n", &save); line != NULL && value == NULL;
         line = strtok_r(NULL, "\r\n", &save)) {
        const size_t len = strlen(name);

        if (strncasecmp(line, name, len) == 0 && line[len] == ':')
            value = mem_copy(line + len + 1 + strspn(line + len + 1, " "));
    }
    free(head);
    return value != NULL ? value : mem_copy("");
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put_escaped(struct buf *out, const char *text)
{
    char *escaped = curl_easy_escape(NULL, text, 0);

    buf_append(out, str_from(escaped));
    curl_free(escaped);
}

/* Engines get no path with "." or an empty part from us: nothing is to be cleaned. */
static void put_path(struct buf *out, char *target)
{
    char *save = NULL;

    target[strcspn(target, "?")] = '\0';
    if (strcmp(target, "/") == 0)
        buf_append_char(out, '/');
    for (char *part = strtok_r(target, "/", &save); part != NULL;
         part = strtok_r(NULL, "/", &save)) {
        buf_append_char(out, '/');
        put_escaped(out, part);
    }
}

/* "name=value", both unescaped and escaped again. */
static char *normal_pair(const char *text)
{
    struct buf b = {0};
    char *name = text_of((struct str){text, strcspn(text, "=")});
    char *plain = curl_easy_unescape(NULL, name, 0, NULL);

    put_escaped(&b, plain);
    curl_free(plain);
    buf_append_char(&b, '=');
    if (strchr(text, '=') != NULL && strchr(text, '=')[1] != '\0') {
        plain = curl_easy_unescape(NULL, strchr(text, '=') + 1, 0, NULL);
        put_escaped(&b, plain);
        curl_free(plain);
    }
    free(name);
    return b.ptr;
}

static void put_query(struct buf *out, struct str query)
{
    char *copy = text_of(query), *pairs[PARTS_MAX], *save = NULL;
    size_t n = 0;

    for (char *pair = strtok_r(copy, "&", &save); pair != NULL && n < PARTS_MAX;
         pair = strtok_r(NULL, "&", &save))
        pairs[n++] = normal_pair(pair);
    qsort(pairs, n, sizeof(*pairs), compare_texts);
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "%s%s", i > 0 ? "&" : "", pairs[i]);
        free(pairs[i]);
    }
    free(copy);
}

static void put_canonical(struct buf *out, const struct fake_http_request *req,
                          const char *signed_headers)
{
    char *target = text_of((struct str){req->head.ptr + req->method.len + 1,
                                        strcspn(req->head.ptr + req->method.len + 1, " ")});
    char *names = mem_copy(signed_headers), *save = NULL;

    buf_printf(out, "%.*s\n", STR_ARG(req->method));
    put_path(out, target);
    buf_append_char(out, '\n');
    put_query(out, req->query);
    buf_append_char(out, '\n');
    for (char *name = strtok_r(names, ";", &save); name != NULL;
         name = strtok_r(NULL, ";", &save)) {
        char *value = header_of(req, name);

        buf_printf(out, "%s:%s\n", name, value);
        free(value);
    }
    buf_printf(out, "\n%s\n", signed_headers);
    hex_hash(req->sent, out);
    free(target);
    free(names);
}

static void mac(const unsigned char *key, size_t key_len, struct str text,
                unsigned char out[MAC_SIZE])
{
    gnutls_hmac_hd_t h;

    gnutls_hmac_init(&h, MAC, key, key_len);
    gnutls_hmac(h, text.ptr, text.len);
    gnutls_hmac_deinit(h, out);
}

static void put_signature(struct buf *out, const struct fake_key *key, const char *date,
                          const char *scope, struct str canonical)
{
    unsigned char k[MAC_SIZE], next[MAC_SIZE];
    struct buf text = {0}, secret = {0};

    buf_printf(&secret, "AWS4%s", key->secret);
    mac((const unsigned char *)secret.ptr, secret.len, (struct str){date, 8}, k);
    mac(k, MAC_SIZE, str_from(key->region), next);
    mac(next, MAC_SIZE, str_from(key->service), k);
    mac(k, MAC_SIZE, STR("aws4_request"), next);
    buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n%s\n", date, scope);
    hex_hash(canonical, &text);
    mac(next, MAC_SIZE, buf_str(&text), k);
    buf_append_hex(out, (struct str){(const char *)k, MAC_SIZE});
    buf_free(&text);
    buf_free(&secret);
}

/* Seconds that the date is before now; it is not one: very many. */
static int64_t age_of(const char *date, int64_t now_ms)
{
    struct tm tm = {0};
    const char *end = strptime(date, "%Y%m%dT%H%M%SZ", &tm);

    return end == NULL || *end != '\0' ? INT64_MAX : now_ms / 1000 - (int64_t)timegm(&tm);
}

static const char *fault(const struct fake_key *key, const struct fake_http_request *req,
                         int64_t now_ms)
{
    char *authorization = header_of(req, "Authorization"), *date = header_of(req, "X-Amz-Date");
    char *token = header_of(req, "X-Amz-Security-Token");
    char *hash = header_of(req, "X-Amz-Content-Sha256");
    char *names = field(authorization, "SignedHeaders=");
    char *credential = field(authorization, "Credential=");
    char *given = field(authorization, "Signature=");
    struct buf scope = {0}, wanted = {0}, canonical = {0}, body = {0}, signature = {0};
    const char *why = NULL;

    buf_printf(&scope, "%.8s/%s/%s/aws4_request", date, key->region, key->service);
    buf_printf(&wanted, "%s/%s", key->id, scope.ptr);
    put_canonical(&canonical, req, names);
    put_signature(&signature, key, date, scope.ptr, buf_str(&canonical));
    hex_hash(req->sent, &body);
    if (authorization[0] == '\0')
        why = "Missing Authentication Token";
    else if (age_of(date, now_ms) > SKEW_S)
        why = "Signature expired: it is now earlier than the clock of the service allows";
    else if (age_of(date, now_ms) < -SKEW_S)
        why = "Signature not yet current: it is still later than the clock of the service";
    else if (strcmp(token, key->token != NULL ? key->token : "") != 0 ||
             strcmp(credential, wanted.ptr) != 0)
        why = "The security token included in the request is invalid.";
    else if (strcmp(given, signature.ptr) != 0 || strcmp(hash, body.ptr) != 0 ||
             strstr(names, "host;x-amz-content-sha256;x-amz-date") == NULL ||
             (key->token != NULL) != (strstr(names, "x-amz-security-token") != NULL))
        why = "The request signature we calculated does not match the signature you provided. "
              "Check your AWS Secret Access Key and signing method.";
    free(authorization);
    free(date);
    free(token);
    free(hash);
    free(names);
    free(credential);
    free(given);
    buf_free(&scope);
    buf_free(&wanted);
    buf_free(&canonical);
    buf_free(&body);
    buf_free(&signature);
    return why;
}

bool fake_signature_check(const struct fake_key *key, const struct fake_http_request *req,
                          int64_t now_ms, struct fake_http_answer *answer)
{
    const char *why = fault(key, req, now_ms);

    if (why == NULL)
        return true;
    answer->status = 403;
    buf_printf(&answer->body, "{\"message\":\"%s\"}", why);
    return false;
}
