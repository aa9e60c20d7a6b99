#include "config.h"

#include "src/net/http_exchange.h"

#include "src/base/clock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/net/aws_credentials.h"
#include "src/net/sigv4.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define UPLOAD_BUFFER_LARGE (1024L * 1024)
#define UPLOAD_BUFFER_SMALL (64L * 1024)
#define ANSWER_KEPT         (1024 * 1024) /* memory that an idle exchange may keep */
#define GZIP_MIN            1024          /* compression does not pay below this */
#define RETRY_AFTER_MAX_S   3600

static size_t take_answer(char *bytes, size_t size, size_t n, void *arg)
{
    struct http_exchange *x = MAGIC_CAST(http_exchange, arg);
    size_t len = size * n;

    if (len > x->answer_max - x->answer.len) {
        x->answer_too_long = true;
        return 0;
    }
    buf_append(&x->answer, (struct str){bytes, len});
    return len;
}

static size_t give_body(char *out, size_t size, size_t n, void *arg)
{
    struct http_exchange *x = MAGIC_CAST(http_exchange, arg);
    size_t len = size * n;

    if (len > x->body.len - x->sent)
        len = x->body.len - x->sent;
    if (len > 0)
        memcpy(out, x->body.ptr + x->sent, len);
    x->sent += len;
    return len;
}

/* libcurl calls this before every attempt, including its own retry when a kept connection
 * breaks. */
static int allow_attempt(void *arg, char *primary_ip, char *local_ip, int primary_port,
                         int local_port)
{
    struct http_exchange *x = MAGIC_CAST(http_exchange, arg);

    (void)primary_ip;
    (void)local_ip;
    (void)primary_port;
    (void)local_port;
    return x->sent == 0 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

#define SET(x, option, value)                                                  \
    do {                                                                       \
        CURLcode code_ = curl_easy_setopt((x)->easy, (option), (value));       \
        assert(code_ != CURLE_UNKNOWN_OPTION && code_ != CURLE_OUT_OF_MEMORY); \
        (void)code_;                                                           \
    } while (0)

static void set_security(struct http_exchange *x, const struct http_options *opt)
{
    if (opt->user != NULL) {
        SET(x, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        SET(x, CURLOPT_USERNAME, opt->user);
        SET(x, CURLOPT_PASSWORD, opt->password != NULL ? opt->password : "");
    }
    if (opt->ca_file != NULL)
        SET(x, CURLOPT_CAINFO, opt->ca_file);
    if (opt->cert_file != NULL)
        SET(x, CURLOPT_SSLCERT, opt->cert_file);
    if (opt->key_file != NULL)
        SET(x, CURLOPT_SSLKEY, opt->key_file);
    SET(x, CURLOPT_SSL_VERIFYPEER, opt->verify ? 1L : 0L);
    SET(x, CURLOPT_SSL_VERIFYHOST, opt->verify ? 2L : 0L);
}

struct http_exchange *http_exchange_new(const struct http_options *opt)
{
    struct http_exchange *x = mem_alloc(1, sizeof(*x));

    x->magic = MAGIC_http_exchange;
    x->easy = curl_easy_init();
    if (x->easy == NULL) {
        fprintf(stderr, "curl_easy_init failed\n");
        abort();
    }
    x->answer_max = opt->answer_max;
    SET(x, CURLOPT_PATH_AS_IS, 1L); /* ".." is an _id */
    SET(x, CURLOPT_PRIVATE, x);
    SET(x, CURLOPT_ERRORBUFFER, x->reason);
    SET(x, CURLOPT_NOSIGNAL, 1L);
    SET(x, CURLOPT_PROXY, ""); /* ignore the environment's */
    SET(x, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(x, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(x, CURLOPT_TCP_KEEPALIVE, 1L);
    SET(x, CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION);
    SET(x, CURLOPT_CONNECTTIMEOUT_MS, (long)opt->connect_timeout_ms);
    SET(x, CURLOPT_WRITEFUNCTION, take_answer);
    SET(x, CURLOPT_WRITEDATA, x);
    SET(x, CURLOPT_READFUNCTION, give_body);
    SET(x, CURLOPT_READDATA, x);
    SET(x, CURLOPT_PREREQFUNCTION, allow_attempt);
    SET(x, CURLOPT_PREREQDATA, x);
    set_security(x, opt);
    return x;
}

void http_exchange_free(struct http_exchange *x)
{
    if (x == NULL)
        return;
    curl_easy_cleanup(x->easy);
    curl_slist_free_all(x->headers);
    buf_free(&x->url);
    buf_free(&x->packed);
    buf_free(&x->answer);
    MAGIC_END(http_exchange, x);
    free(x);
}

static void add_header(struct http_exchange *x, const char *name, const char *value)
{
    struct buf line = {0};

    buf_printf(&line, "%s: %s", name, value);
    line.ptr[strcspn(line.ptr, "\r\n")] = '\0';

    struct curl_slist *list = curl_slist_append(x->headers, line.ptr);

    if (list == NULL)
        abort(); /* out of memory */
    x->headers = list;
    buf_free(&line);
}

/* type: "application/..."; NULL means JSON. */
static void add_media_type(struct http_exchange *x, const struct http_options *opt,
                           const char *name, const char *type)
{
    const unsigned major =
        opt->compatible != NULL ? __atomic_load_n(opt->compatible, __ATOMIC_RELAXED) : 0;
    struct buf value = {0};

    type = type != NULL ? type : "application/json";
    if (major == 0)
        buf_append(&value, str_from(type));
    else
        buf_printf(&value, "application/vnd.elasticsearch+%s; compatible-with=%u",
                   type + strlen("application/"), major);
    add_header(x, name, value.ptr);
    buf_free(&value);
}

/* Splits x->url into the host as sent, the path and the query. */
static void split_url(const struct http_exchange *x, struct str *host, struct str *path,
                      struct str *query)
{
    const char *from = strstr(x->url.ptr, "://"), *mark;

    from = from == NULL ? x->url.ptr : from + strlen("://");
    *host = (struct str){from, strcspn(from, "/?")};
    if (memchr(host->ptr, '@', host->len) != NULL) {
        from = (const char *)memchr(host->ptr, '@', host->len) + 1;
        *host = (struct str){from, strcspn(from, "/?")};
    }
    from += host->len;
    mark = strchr(from, '?');
    *path = (struct str){from, mark == NULL ? strlen(from) : (size_t)(mark - from)};
    *query = mark == NULL ? STR("") : str_from(mark + 1);
}

/* Adds the headers of a signature over the request as it is now. */
static void sign(struct http_exchange *x, const struct sigv4_key *key, const char *method)
{
    struct str host, path, query;
    char date[SIGV4_DATE_LEN + 1], payload[SIGV4_HASH_LEN + 1];
    struct buf value = {0};

    split_url(x, &host, &path, &query);
    sigv4_date(clock_wall_ms(), date);
    sigv4_hash(x->body, payload);

    const struct sigv4_header headers[] = {
        {STR("Host"), host},
        {STR("X-Amz-Date"), str_from(date)},
        {STR("X-Amz-Content-Sha256"), str_from(payload)},
        {STR("X-Amz-Security-Token"), key->token != NULL ? str_from(key->token) : STR("")},
    };

    const size_t n = ARRAY_LEN(headers) - (key->token == NULL);

    for (size_t i = 0; i < n; i++) {
        buf_clear(&value);
        buf_append(&value, headers[i].value);
        add_header(x, headers[i].name.ptr, value.ptr);
    }
    buf_clear(&value);
    sigv4_authorize(key,
                    &(struct sigv4_request){.method = str_from(method),
                                            .path = path,
                                            .query = query,
                                            .headers = headers,
                                            .n_headers = n,
                                            .payload = payload},
                    date, &value);
    add_header(x, "Authorization", value.ptr);
    buf_free(&value);
}

/* If there is no key, the engine will say that it wants one. */
static void sign_renewed(struct http_exchange *x, struct aws_credentials *renewed,
                         const char *method)
{
    struct sigv4_key *key = aws_credentials_get(renewed);

    if (key != NULL)
        sign(x, key, method);
    free(key);
}

static void set_headers(struct http_exchange *x, const struct http_options *opt,
                        const struct http_request *req)
{
    curl_slist_free_all(x->headers);
    x->headers = NULL;
    add_media_type(x, opt, "Accept", NULL);
    add_header(x, "Expect", ""); /* send the body without waiting for "100 Continue" */
    if (req->body.len > 0)
        add_media_type(x, opt, "Content-Type", req->content_type);
    if (x->packed.len > 0)
        add_header(x, "Content-Encoding", "gzip");
    if (opt->api_key != NULL) {
        struct buf value = {0};

        buf_printf(&value, "ApiKey %s", opt->api_key);
        add_header(x, "Authorization", value.ptr);
        buf_free(&value);
    }
    if (opt->renewed != NULL)
        sign_renewed(x, opt->renewed, req->method);
    else if (opt->aws != NULL)
        sign(x, opt->aws, req->method);
    SET(x, CURLOPT_HTTPHEADER, x->headers);
}

/* Compresses body into x->packed, if that pays. */
static void pack(struct http_exchange *x, const struct http_request *req)
{
    z_stream z = {0};

    if (!req->gzip || req->body.len < GZIP_MIN || req->body.len > UINT_MAX)
        return;
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort(); /* out of memory */

    size_t bound = deflateBound(&z, (uLong)req->body.len);

    buf_reserve(&x->packed, bound);
    /* zlib does not write to its input. */
    z.next_in = (Bytef *)(uintptr_t)req->body.ptr;
    z.avail_in = (uInt)req->body.len;
    z.next_out = (Bytef *)x->packed.ptr;
    z.avail_out = (uInt)bound;

    int rc = deflate(&z, Z_FINISH);

    assert(rc == Z_STREAM_END);
    x->packed.len = z.total_out;
    deflateEnd(&z);
}

static void set_method(struct http_exchange *x, const struct http_request *req)
{
    bool has_body = x->body.len > 0;

    if (!has_body && strcmp(req->method, "GET") == 0) {
        SET(x, CURLOPT_HTTPGET, 1L);
        SET(x, CURLOPT_CUSTOMREQUEST, NULL);
    } else if (!has_body && strcmp(req->method, "HEAD") == 0) {
        SET(x, CURLOPT_NOBODY, 1L);
        SET(x, CURLOPT_CUSTOMREQUEST, NULL);
    } else {
        SET(x, CURLOPT_POST, 1L);
        SET(x, CURLOPT_CUSTOMREQUEST, req->method);
        SET(x, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body.len);
        SET(x, CURLOPT_UPLOAD_BUFFERSIZE,
            x->body.len > (size_t)UPLOAD_BUFFER_SMALL ? UPLOAD_BUFFER_LARGE
                                                      : UPLOAD_BUFFER_SMALL);
    }
}

static void forget_last(struct http_exchange *x)
{
    if (x->answer.cap > ANSWER_KEPT)
        buf_free(&x->answer);
    buf_clear(&x->answer);
    buf_free(&x->packed);
    buf_clear(&x->url);
    x->sent = 0;
    x->answer_too_long = false;
    x->reason[0] = '\0';
}

void http_exchange_begin(struct http_exchange *x, const struct http_options *opt,
                         const struct http_request *req, const char *url)
{
    forget_last(x);
    buf_append(&x->url, str_from(url));
    buf_append(&x->url, req->path);
    pack(x, req);
    x->body = x->packed.len > 0 ? buf_str(&x->packed) : req->body;
    x->start_ms = clock_mono_ms();
    SET(x, CURLOPT_URL, x->url.ptr);
    SET(x, CURLOPT_ACCEPT_ENCODING, req->gzip ? "gzip" : NULL);
    SET(x, CURLOPT_TIMEOUT_MS, (long)(req->timeout_ms > 0 ? req->timeout_ms : opt->timeout_ms));
    set_method(x, req);
    set_headers(x, opt, req);
}

/* How to fix the failures that have a known remedy. */
static const struct {
    CURLcode code;
    const char *fix;
} fixes[] = {
    {CURLE_UNSUPPORTED_PROTOCOL, "an address begins with http:// or https://"},
    {CURLE_URL_MALFORMAT, "an address looks like https://host:9200"},
    {CURLE_COULDNT_RESOLVE_HOST, "check the host name in search.url"},
    {CURLE_COULDNT_CONNECT, "is the search engine running, and is this its address?"},
    {CURLE_GOT_NOTHING, "if this port speaks TLS, the address must begin with https://"},
    {CURLE_SSL_CONNECT_ERROR,
     "if this port does not speak TLS, the address begins with http://"},
    {CURLE_PEER_FAILED_VERIFICATION,
     "set search.ca_file to the CA that signed the server's certificate, and use the host name "
     "that stands in it"},
    {CURLE_SSL_CACERT_BADFILE, "search.ca_file cannot be read as PEM certificates"},
    {CURLE_SSL_CERTPROBLEM, "check the client certificate and its key (PEM)"},
    {CURLE_ABORTED_BY_CALLBACK, "a kept connection broke while the request was being sent"},
    {CURLE_SEND_FAIL_REWIND, "a kept connection broke while the request was being sent"},
};

/* The server says so in an alert, often only while we read its answer. */
static bool is_our_certificate(const char *reason)
{
    return strstr(reason, "alert") != NULL &&
           (strstr(reason, "ertificate") != NULL || strstr(reason, "unknown ca") != NULL);
}

static const char *fix_of(CURLcode code, const char *reason)
{
    if (is_our_certificate(reason))
        return "the server wants a certificate of ours that it trusts: check search.cert_file "
               "and search.key_file";
    if (code == CURLE_UNSUPPORTED_PROTOCOL && strstr(reason, "HTTP/0.9") != NULL)
        return "this port does not speak HTTP: give the search engine's address, not the "
               "database's (3306, for example)";
    for (size_t i = 0; i < ARRAY_LEN(fixes); i++)
        if (fixes[i].code == code)
            return fixes[i].fix;
    return NULL;
}

static void explain(struct http_exchange *x, CURLcode code, const char *address,
                    struct err *err)
{
    const char *reason = x->reason[0] != '\0' ? x->reason : curl_easy_strerror(code);
    const char *fix = fix_of(code, reason);

    if (x->answer_too_long)
        err_set_code(err, ERR_RETRY, HTTP_TOO_LONG, (int)code,
                     "%s: the answer is longer than %zu bytes", address, x->answer_max);
    else
        err_set_code(err, ERR_RETRY, "curl", (int)code, "%s: %s%s%s", address, reason,
                     fix != NULL ? "; " : "", fix != NULL ? fix : "");
}

/* Returns true if the network got no byte of the body or, for a request without body, no byte
 * of the request. */
static bool was_not_sent(struct http_exchange *x)
{
    long request_size = 0;

    if (x->body.len > 0)
        return x->sent == 0;
    curl_easy_getinfo(x->easy, CURLINFO_REQUEST_SIZE, &request_size);
    return request_size == 0;
}

bool http_exchange_is_sent(const struct http_exchange *x)
{
    return x->body.len > 0 && x->sent == x->body.len && x->answer.len == 0;
}

void http_exchange_end(struct http_exchange *x, CURLcode code, const char *address,
                       struct http_result *result)
{
    curl_off_t retry_after_s = 0;
    long status = 0;

    *result = (struct http_result){
        .retry_after_ms = -1,
        .took_ms = clock_mono_ms() - x->start_ms,
        .address = address,
    };
    if (code != CURLE_OK) {
        result->outcome = was_not_sent(x) ? HTTP_NOT_SENT : HTTP_UNKNOWN;
        explain(x, code, address, &result->err);
        return;
    }
    curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(x->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    result->status = (int)status;
    result->body = buf_str(&x->answer);
    if (retry_after_s > 0)
        result->retry_after_ms =
            1000 * (retry_after_s < RETRY_AFTER_MAX_S ? retry_after_s : RETRY_AFTER_MAX_S);
}
