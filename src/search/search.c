#include "config.h"

#include "src/search/search.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/histogram.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "src/metric/metric.h"
#include "src/metric/statistic.h"
#include "src/net/address_set.h"
#include "src/net/aws_credentials.h"
#include "src/net/http_client.h"
#include "src/net/sigv4.h"
#include "src/search/engine_error.h"

#include <stdlib.h>

struct search {
    struct search_options opt; /* our own copies */
    struct address_set *addresses;
    struct aws_credentials *renewed; /* NULL if none */
    struct http_client *client;
    struct statistic queries, failed_queries;
    struct histogram query_us;
    bool (*may_change)(void *ctx, struct str name, struct err *err); /* or NULL */
    void *ctx;
    unsigned compatible; /* atomic: engine_compatible(), 0 until it is known */

    struct lock lock;
    /* All guarded by lock; set once. */
    struct engine engine;
    char *version;
};

void search_guard(struct search *s, bool (*may)(void *ctx, struct str name, struct err *err),
                  void *ctx)
{
    s->may_change = may;
    s->ctx = ctx;
}

bool search_may_change(struct search *s, struct str name, struct err *err)
{
    return s->may_change == NULL || s->may_change(s->ctx, name, err);
}

static struct search_options copy_options(const struct search_options *opt)
{
    struct search_options own = *opt;
    const char **urls = mem_alloc(opt->n_urls, sizeof(*urls));
    const char **hosts = mem_alloc(opt->n_sniff_hosts + 1, sizeof(*hosts));

    for (size_t i = 0; i < opt->n_urls; i++)
        urls[i] = mem_copy(opt->urls[i]);
    for (size_t i = 0; i < opt->n_sniff_hosts; i++)
        hosts[i] = mem_copy(opt->sniff_hosts[i]);
    own.urls = urls;
    own.sniff_hosts = hosts;
    own.user = mem_copy_any(opt->user);
    own.password = mem_copy_any(opt->password);
    own.api_key = mem_copy_any(opt->api_key);
    own.aws = sigv4_copy_key(opt->aws);
    own.aws_file = mem_copy_any(opt->aws_file);
    own.ca_file = mem_copy_any(opt->ca_file);
    own.cert_file = mem_copy_any(opt->cert_file);
    own.key_file = mem_copy_any(opt->key_file);
    return own;
}

static void free_options(struct search_options *opt)
{
    for (size_t i = 0; i < opt->n_urls; i++)
        mem_free_const(opt->urls[i]);
    mem_free_const(opt->urls);
    for (size_t i = 0; i < opt->n_sniff_hosts; i++)
        mem_free_const(opt->sniff_hosts[i]);
    mem_free_const(opt->sniff_hosts);
    mem_free_const(opt->user);
    mem_free_const(opt->password);
    mem_free_const(opt->api_key);
    mem_free_const(opt->aws);
    mem_free_const(opt->aws_file);
    mem_free_const(opt->ca_file);
    mem_free_const(opt->cert_file);
    mem_free_const(opt->key_file);
}

struct http_client *search_new_client(const struct search *s)
{
    return http_client_new(&(struct http_options){
        .addresses = s->addresses,
        .user = s->opt.user,
        .password = s->opt.password,
        .api_key = s->opt.api_key,
        .aws = s->renewed == NULL ? s->opt.aws : NULL,
        .renewed = s->renewed,
        .ca_file = s->opt.ca_file,
        .cert_file = s->opt.cert_file,
        .key_file = s->opt.key_file,
        .compatible = &s->compatible,
        .verify = s->opt.verify,
        .timeout_ms = s->opt.timeout_ms,
    });
}

struct search *search_new(const struct search_options *opt)
{
    struct search *s = mem_alloc(1, sizeof(*s));

    s->opt = copy_options(opt);
    s->addresses = address_set_new(opt->urls, opt->n_urls);
    if (s->opt.aws_file != NULL)
        s->renewed = aws_credentials_new(s->opt.aws_file, s->opt.aws);
    s->client = search_new_client(s);
    s->version = mem_copy("");
    lock_init(&s->lock, LOCK_private);
    return s;
}

void search_free(struct search *s)
{
    if (s == NULL)
        return;
    http_client_free(s->client);
    address_set_free(s->addresses);
    lock_fini(&s->lock);
    aws_credentials_free(s->renewed);
    free_options(&s->opt);
    free(s->version);
    free(s);
}

void search_end(struct search *s)
{
    http_client_end(s->client);
}

void search_count_query(struct search *s, bool failed, int64_t took_us)
{
    const int64_t now_ms = clock_mono_ms();

    statistic_add(&s->queries, now_ms, 1);
    if (failed)
        statistic_add(&s->failed_queries, now_ms, 1);
    histogram_add(&s->query_us, took_us < 0 ? 0 : (uint64_t)took_us);
}

void search_metrics(const struct search *s, struct buf *samples)
{
    struct histogram times;

    histogram_snapshot(&s->query_us, &times);
    metric_put_u64(samples, METRIC_QUERIES, statistic_total(&s->queries), STR("search"));
    metric_put_u64(samples, METRIC_QUERIES_FAILED, statistic_total(&s->failed_queries),
                   STR("search"));
    metric_put_histogram(samples, METRIC_QUERY_SECONDS, &times, STR("search"));

    struct address_view v;

    for (size_t i = 0; address_set_next(s->addresses, &i, &v);)
        metric_put_u64(samples, METRIC_SEARCH_ADDRESS_UP, v.is_up, STR("search"),
                       str_from(v.name));
}

void search_put_statistics(const struct search *s, struct json_writer *w)
{
    const int64_t now_ms = clock_mono_ms();

    statistic_put(w, STR("queries"), &s->queries, now_ms);
    statistic_put(w, STR("failed_queries"), &s->failed_queries, now_ms);
    statistic_put_times(w, STR("query_seconds"), &s->query_us, 1e6);
}

struct address_set *search_addresses(const struct search *s)
{
    return s->addresses;
}

const struct search_options *search_get_options(const struct search *s)
{
    return &s->opt;
}

static bool request(struct search *s, const struct http_request *req,
                    struct http_result *result, struct buf *out, struct err *err)
{
    const int64_t began_ns = clock_mono_ns();
    const bool answered = http_client_call(s->client, req, result, out, err);

    search_count_query(s, !answered || result->status == 429 || result->status >= 500,
                       (clock_mono_ns() - began_ns) / 1000);
    return answered;
}

bool search_send(struct search *s, const struct http_request *req, int *status, struct buf *out,
                 struct err *err)
{
    struct http_result result;

    if (!request(s, req, &result, out, err))
        return false;
    *status = result.status;
    return true;
}

bool search_request(struct search *s, const char *method, struct str path, struct str body,
                    int *status, struct buf *out, struct err *err)
{
    return search_send(s, &(struct http_request){.method = method, .path = path, .body = body},
                       status, out, err);
}

bool search_is_success(const struct http_result *result, const char *method, struct str path,
                       struct str body, struct err *err)
{
    struct buf reason = {0};

    if (result->status >= 200 && result->status <= 299)
        return true;

    engine_error_append_reason(&reason, body);
    err_set_code(err, engine_error_kind(result->status, body), "http", result->status,
                 "%s: %s %" STR_FMT ": %d %s%s", result->address, method, STR_ARG(path),
                 result->status, reason.ptr, engine_error_fix(result->status, body));
    buf_free(&reason);
    return false;
}

static bool call(struct search *s, const struct http_request *req, struct buf *out,
                 struct err *err)
{
    struct http_result result;
    struct buf answer = {0};
    const bool ok = request(s, req, &result, &answer, err) &&
                    search_is_success(&result, req->method, req->path, buf_str(&answer), err);

    if (ok && out != NULL)
        buf_append(out, buf_str(&answer));
    buf_free(&answer);
    return ok;
}

bool search_call(struct search *s, const char *method, struct str path, struct str body,
                 struct buf *out, struct err *err)
{
    return call(s, &(struct http_request){.method = method, .path = path, .body = body}, out,
                err);
}

bool search_get(struct search *s, struct str path, unsigned timeout_ms, struct buf *out,
                struct err *err)
{
    const unsigned longest_ms = s->opt.timeout_ms;

    if (longest_ms != 0 && longest_ms < timeout_ms)
        timeout_ms = longest_ms;
    return call(s,
                &(struct http_request){.method = "GET", .path = path, .timeout_ms = timeout_ms},
                out, err);
}

static void remember(struct search *s, const struct engine *e, const char *version)
{
    lock_acquire(&s->lock);

    const bool first = s->engine.flavor == SEARCH_UNKNOWN;

    if (first) {
        s->engine = *e;
        free(s->version);
        s->version = mem_copy(version);
    }
    lock_release(&s->lock);
    __atomic_store_n(&s->compatible, engine_compatible(e), __ATOMIC_RELAXED);
    if (first && engine_is_new(e))
        log_warn("the search engine is newer than any that this release knows; treating "
                 "it like the newest known one",
                 KV("engine", engine_name(e)), KV("version", version));
}

bool search_identify(struct search *s, struct str body, struct err *err)
{
    struct buf version = {0};
    struct engine e;
    const bool ok = engine_identify(body, &e, &version, err);

    if (ok)
        remember(s, &e, version.ptr);
    buf_free(&version);
    return ok;
}

bool search_detect_within(struct search *s, unsigned timeout_ms, struct err *err)
{
    if (search_engine(s).flavor != SEARCH_UNKNOWN)
        return true;

    struct buf body = {0};
    bool ok = search_get(s, STR("/"), timeout_ms, &body, err) &&
              search_identify(s, buf_str(&body), err);

    buf_free(&body);
    return ok;
}

bool search_detect(struct search *s, struct err *err)
{
    return search_detect_within(s, 0, err);
}

/* Locking does not change what s is. */
static struct lock *lock_of(const struct search *s)
{
    return (struct lock *)(uintptr_t)&s->lock;
}

struct engine search_engine(const struct search *s)
{
    lock_acquire(lock_of(s));

    const struct engine engine = s->engine;

    lock_release(lock_of(s));
    return engine;
}

const char *search_version_text(const struct search *s)
{
    lock_acquire(lock_of(s));

    const char *version = s->engine.flavor != SEARCH_UNKNOWN ? s->version : "";

    lock_release(lock_of(s));
    return version;
}
