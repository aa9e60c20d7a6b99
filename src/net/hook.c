#include "config.h"

#include "src/net/hook.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/net/reach.h"

#include <assert.h>
#include <curl/curl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct hook {
    const char *section;
    char *url, *name, *secret, *ca_file;
    bool allow_private;
    const struct stop *stop;
};

/* ---- opening ---- */

static bool has_scheme(const char *url, const char *scheme)
{
    return strncasecmp(url, scheme, strlen(scheme)) == 0;
}

/* Appends the URL up to its path, without a user. */
static bool append_name(struct buf *out, const char *url)
{
    const char *host = strstr(url, "://");

    if (host == NULL)
        return false;
    host += strlen("://");
    buf_append(out, (struct str){url, (size_t)(host - url)});

    const char *end = host + strcspn(host, "/?#");

    for (const char *p = host; p < end; p++)
        if (*p == '@')
            host = p + 1;
    buf_append(out, (struct str){host, (size_t)(end - host)});
    return end > host && *host != ':';
}

static bool check_bytes(const char *url)
{
    for (const char *p = url; *p != '\0'; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return false;
    return true;
}

static bool check(const struct hook_options *opt, struct buf *name, struct err *err)
{
    const bool is_plain = has_scheme(opt->url, "http://");

    if (!check_bytes(opt->url) || (!is_plain && !has_scheme(opt->url, "https://")) ||
        !append_name(name, opt->url))
        return err_set(err, ERR_REJECT,
                       "is no address of a receiver; fix: give one such as "
                       "https://hooks.example.org/millrace");
    if (is_plain && !opt->allow_http && !opt->allow_private)
        return err_set(err, ERR_REJECT,
                       "%s is not encrypted; fix: use https, or set %s.allow_http", name->ptr,
                       opt->section);
    if (opt->secret != NULL && strlen(opt->secret) < HOOK_SECRET_MIN)
        return err_set(err, ERR_REJECT, "%s.secret has %zu bytes; fix: give it %d or more",
                       opt->section, strlen(opt->secret), HOOK_SECRET_MIN);
    return true;
}

static void init_curl(void)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        abort();
}

static char *copy(const char *text)
{
    return text == NULL ? NULL : mem_copy(text);
}

bool hook_open(struct hook **out, const struct hook_options *opt, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct buf name = {0};
    const bool ok = check(opt, &name, err);

    pthread_once(&once, init_curl);
    if (ok) {
        struct hook *h = mem_alloc(1, sizeof(*h));

        *h = (struct hook){.section = opt->section,
                           .url = copy(opt->url),
                           .name = copy(name.ptr),
                           .secret = copy(opt->secret),
                           .ca_file = copy(opt->ca_file),
                           .allow_private = opt->allow_private,
                           .stop = opt->stop};
        *out = h;
    }
    buf_free(&name);
    return ok;
}

void hook_close(struct hook *h)
{
    if (h == NULL)
        return;
    free(h->url);
    free(h->name);
    free(h->secret);
    free(h->ca_file);
    free(h);
}

const char *hook_name(const struct hook *h)
{
    return h->name;
}

/* ---- signing ---- */

void hook_sign(struct str secret, int64_t now_s, struct str body, char out[65])
{
    struct buf text = {0}, hex = {0};
    unsigned char mac[32];

    buf_printf(&text, "%" PRId64 ".", now_s);
    buf_append(&text, body);
    if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, secret.ptr, secret.len, text.ptr, text.len, mac) !=
        0)
        abort();
    buf_append_hex(&hex, (struct str){(const char *)mac, sizeof(mac)});
    memcpy(out, hex.ptr, hex.len + 1);
    buf_free(&text);
    buf_free(&hex);
}

static struct curl_slist *add_header(struct curl_slist *list, const char *fmt, ...)
    PRINTF_LIKE(2, 3);

static struct curl_slist *add_header(struct curl_slist *list, const char *fmt, ...)
{
    struct buf line = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&line, fmt, ap);
    va_end(ap);
    list = curl_slist_append(list, line.ptr);
    if (list == NULL)
        abort(); /* out of memory */
    buf_free(&line);
    return list;
}

static struct curl_slist *make_headers(const struct hook *h, struct str body, int64_t now_s)
{
    struct curl_slist *list = add_header(NULL, "Content-Type: application/json");
    char mac[65];

    list = add_header(list, "Expect:"); /* wait for no permission to send the body */
    list = add_header(list, HOOK_TIMESTAMP ": %" PRId64, now_s);
    if (h->secret == NULL)
        return list;
    hook_sign(str_from(h->secret), now_s, body, mac);
    return add_header(list, HOOK_SIGNATURE ": v1=%s", mac);
}

/* ---- posting ---- */

struct hook_call {
    const struct hook *hook;
    const char *refused; /* the kind of the last address that was refused; NULL: none */
    size_t taken;        /* bytes of the answer */
    struct buf answer;
    char reason[CURL_ERROR_SIZE];
};

/* libcurl calls this with the address that it is about to connect to. */
static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct hook_call *c = ctx;
    const char *inside = c->hook->allow_private ? NULL : reach_inside(&a->addr);

    (void)purpose;
    if (inside == NULL)
        return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    c->refused = inside;
    return CURL_SOCKET_BAD;
}

static size_t take_answer(char *bytes, size_t size, size_t n, void *ctx)
{
    struct hook_call *c = ctx;
    const size_t room = HOOK_ANSWER_KEPT - c->answer.len;

    (void)size;
    buf_append(&c->answer, (struct str){bytes, n < room ? n : room});
    c->taken += n;
    return c->taken <= HOOK_ANSWER_MAX ? n : 0;
}

/* libcurl calls this about once a second; a non-zero result aborts the request. */
static int on_progress(void *ctx, curl_off_t to_read, curl_off_t read, curl_off_t to_send,
                       curl_off_t sent)
{
    const struct hook_call *c = ctx;

    (void)to_read;
    (void)read;
    (void)to_send;
    (void)sent;
    return c->hook->stop != NULL && stop_is_set(c->hook->stop);
}

#define SET(easy, option, value)                                               \
    do {                                                                       \
        CURLcode code_ = curl_easy_setopt((easy), (option), (value));          \
        assert(code_ != CURLE_UNKNOWN_OPTION && code_ != CURLE_OUT_OF_MEMORY); \
        (void)code_;                                                           \
    } while (0)

static CURL *make_easy(struct hook_call *c)
{
    CURL *easy = curl_easy_init();

    if (easy == NULL)
        abort(); /* out of memory */
    SET(easy, CURLOPT_URL, c->hook->url);
    SET(easy, CURLOPT_ERRORBUFFER, c->reason);
    SET(easy, CURLOPT_NOSIGNAL, 1L);
    SET(easy, CURLOPT_PROXY, ""); /* ignore the environment's */
    SET(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(easy, CURLOPT_FOLLOWLOCATION, 0L);
    SET(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(easy, CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION);
    SET(easy, CURLOPT_TIMEOUT_MS, (long)HOOK_LIMIT_MS);
    SET(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)HOOK_CONNECT_MS);
    SET(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(easy, CURLOPT_OPENSOCKETDATA, c);
    SET(easy, CURLOPT_WRITEFUNCTION, take_answer);
    SET(easy, CURLOPT_WRITEDATA, c);
    SET(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(easy, CURLOPT_XFERINFODATA, c);
    SET(easy, CURLOPT_NOPROGRESS, 0L);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* A name server that hangs does not hold us up: libcurl leaves its thread to itself. */
    SET(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    if (c->hook->ca_file != NULL)
        SET(easy, CURLOPT_CAINFO, c->hook->ca_file);
    return easy;
}

/* Control characters become spaces; a character that is cut at the end is left out. */
static void keep_answer(struct hook_answer *out, struct str text)
{
    while (text.len > 0 && text.len == HOOK_ANSWER_KEPT && (text.ptr[text.len - 1] & 0x80) != 0)
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        out->text[i] =
            (unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f ? ' ' : text.ptr[i];
    out->text[text.len] = '\0';
}

static bool is_refusal_of_body(int status)
{
    return status == 400 || status == 413 || status == 415 || status == 422;
}

static bool judge(const struct hook_call *c, CURLcode code, const struct hook_answer *answer,
                  struct err *err)
{
    const char *name = c->hook->name;
    const bool is_cut = code == CURLE_WRITE_ERROR; /* the answer is longer than we read */

    if (c->refused != NULL && code != CURLE_OK && answer->status == 0)
        return err_set(err, ERR_RETRY,
                       "%s leads to an address that is %s; fix: give the public address of a "
                       "receiver, or set %s.allow_private if you trust this network",
                       name, c->refused, c->hook->section);
    if (answer->status == 0 || (code != CURLE_OK && !is_cut))
        return err_set(err, ERR_RETRY, "%s: %s", name,
                       c->reason[0] != '\0' ? c->reason : curl_easy_strerror(code));
    if (answer->status >= 200 && answer->status < 300)
        return true;
    return err_set_code(err, is_refusal_of_body(answer->status) ? ERR_REJECT : ERR_RETRY,
                        "http", answer->status, "%s answered HTTP %d%s%s", name, answer->status,
                        answer->text[0] != '\0' ? ": " : "", answer->text);
}

bool hook_post(const struct hook *h, struct str body, int64_t now_s, struct hook_answer *answer,
               struct err *err)
{
    struct hook_call c = {.hook = h};
    struct curl_slist *headers = make_headers(h, body, now_s);
    CURL *easy = make_easy(&c);
    long status = 0;

    SET(easy, CURLOPT_HTTPHEADER, headers);
    SET(easy, CURLOPT_POSTFIELDS, body.ptr);
    SET(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);

    const CURLcode code = curl_easy_perform(easy);

    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    *answer = (struct hook_answer){.status = (int)status};
    keep_answer(answer, buf_str(&c.answer));

    const bool ok = judge(&c, code, answer, err);

    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    buf_free(&c.answer);
    return ok;
}
