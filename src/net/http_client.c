#include "config.h"

#include "src/net/http_client.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/net/address_set.h"
#include "src/net/http_exchange.h"
#include "src/net/sigv4.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMEOUT_MS         30000
#define CONNECT_TIMEOUT_MS 5000
#define CONNECTIONS_MAX    100
#define ANSWER_MAX         ((size_t)64 * 1024 * 1024)
#define QUESTION_MS        2000

struct http_client {
    enum magic magic;
    struct http_options opt; /* complete; we own its strings, the addresses own its URLs */
    struct address_set *addresses;
    bool owns_addresses;

    /* Only for the polling thread. */
    CURLM *multi;
    struct http_exchange *running; /* doubly linked */
    struct http_exchange *idle;
    size_t n_running;
    bool is_asking; /* one of them is a probe */

    bool is_over; /* atomic: calls fail */

    struct lock lock;
    struct http_exchange *idle_calls; /* guarded by lock; each has its own connection */
};

static void init_curl(void)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0) {
        fprintf(stderr, "curl_global_init failed\n");
        abort();
    }
}

static struct http_options complete(const struct http_options *opt)
{
    struct http_options full = *opt;

    full.urls = NULL;
    full.user = mem_copy_any(opt->user);
    full.password = mem_copy_any(opt->password);
    full.api_key = mem_copy_any(opt->api_key);
    full.aws = sigv4_copy_key(opt->aws);
    full.ca_file = mem_copy_any(opt->ca_file);
    full.cert_file = mem_copy_any(opt->cert_file);
    full.key_file = mem_copy_any(opt->key_file);
    full.timeout_ms = opt->timeout_ms > 0 ? opt->timeout_ms : TIMEOUT_MS;
    full.connect_timeout_ms =
        opt->connect_timeout_ms > 0 ? opt->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    full.connections_max = opt->connections_max > 0 ? opt->connections_max : CONNECTIONS_MAX;
    full.answer_max = opt->answer_max > 0 ? opt->answer_max : ANSWER_MAX;
    return full;
}

static void free_options(struct http_options *opt)
{
    mem_free_const(opt->user);
    mem_free_const(opt->password);
    mem_free_const(opt->api_key);
    mem_free_const(opt->aws);
    mem_free_const(opt->ca_file);
    mem_free_const(opt->cert_file);
    mem_free_const(opt->key_file);
}

struct http_client *http_client_new(const struct http_options *opt)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct http_client *c = mem_alloc(1, sizeof(*c));

    c->magic = MAGIC_http_client;
    pthread_once(&once, init_curl);
    c->opt = complete(opt);
    c->owns_addresses = opt->addresses == NULL;
    c->addresses = c->owns_addresses ? address_set_new(opt->urls, opt->n_urls) : opt->addresses;
    lock_init(&c->lock, LOCK_private);
    c->multi = curl_multi_init();
    if (c->multi == NULL) {
        fprintf(stderr, "curl_multi_init failed\n");
        abort();
    }
    curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)c->opt.connections_max);
    return c;
}

void http_client_set_connections(struct http_client *c, unsigned max)
{
    curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)max);
    curl_multi_setopt(c->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                      (long)max + 1); /* one more for a probe */
}

static void free_list(struct http_exchange *x)
{
    while (x != NULL) {
        struct http_exchange *next = x->next;

        http_exchange_free(x);
        x = next;
    }
}

void http_client_free(struct http_client *c)
{
    if (c == NULL)
        return;
    for (struct http_exchange *x = c->running; x != NULL; x = x->next)
        curl_multi_remove_handle(c->multi, x->easy);
    free_list(c->running);
    free_list(c->idle);
    free_list(c->idle_calls);
    curl_multi_cleanup(c->multi);
    if (c->owns_addresses)
        address_set_free(c->addresses);
    lock_fini(&c->lock);
    free_options(&c->opt);
    MAGIC_END(http_client, c);
    free(c);
}

static void push(struct http_exchange **list, struct http_exchange *x)
{
    x->prev = NULL;
    x->next = *list;
    if (*list != NULL)
        (*list)->prev = x;
    *list = x;
}

static void unlink_from(struct http_exchange **list, struct http_exchange *x)
{
    if (x->prev != NULL)
        x->prev->next = x->next;
    else
        *list = x->next;
    if (x->next != NULL)
        x->next->prev = x->prev;
}

/* Takes the first of list; NULL if empty. */
static struct http_exchange *take(struct http_exchange **list)
{
    struct http_exchange *x = *list;

    if (x != NULL)
        unlink_from(list, x);
    return x;
}

static const char *pick_address(struct http_client *c, struct http_exchange *x)
{
    x->address = address_set_pick(c->addresses, clock_mono_ms());
    return address_set_url(c->addresses, x->address);
}

bool http_is_address_fault(const struct http_result *result)
{
    if (result->outcome != HTTP_ANSWERED)
        return result->err.origin == NULL || strcmp(result->err.origin, HTTP_TOO_LONG) != 0;
    return result->status >= 502 && result->status <= 504;
}

/* Translates libcurl's code and records how the address did. */
static void end_exchange(struct http_client *c, struct http_exchange *x, CURLcode code,
                         struct http_result *result)
{
    const int64_t now_ms = clock_mono_ms();
    char status[32];

    http_exchange_end(x, code, address_set_name(c->addresses, x->address), result);
    snprintf(status, sizeof(status), "it answers HTTP %d", result->status);
    if (http_is_address_fault(result))
        address_set_failed(c->addresses, x->address, now_ms,
                           result->outcome == HTTP_ANSWERED ? status : result->err.msg);
    else if (x->is_question)
        address_set_answered(c->addresses, x->address, now_ms);
    else
        address_set_worked(c->addresses, x->address, now_ms);
}

static bool may_repeat(const struct http_request *req, const struct http_result *result)
{
    switch (result->outcome) {
    case HTTP_ANSWERED: return false;
    case HTTP_NOT_SENT: return true;
    case HTTP_UNKNOWN:
        return strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0;
    }
    return false;
}

static struct http_exchange *take_call(struct http_client *c)
{
    lock_acquire(&c->lock);

    struct http_exchange *x = take(&c->idle_calls);

    lock_release(&c->lock);
    return x != NULL ? x : http_exchange_new(&c->opt);
}

static void give_call_back(struct http_client *c, struct http_exchange *x)
{
    lock_acquire(&c->lock);
    push(&c->idle_calls, x);
    lock_release(&c->lock);
}

void http_client_end(struct http_client *c)
{
    __atomic_store_n(&c->is_over, true, __ATOMIC_RELEASE);
}

static bool is_over(const struct http_client *c)
{
    return __atomic_load_n(&c->is_over, __ATOMIC_ACQUIRE);
}

/* libcurl calls this about once a second; a non-zero result aborts the request. */
static int on_progress(void *ctx, curl_off_t to_read, curl_off_t read, curl_off_t to_send,
                       curl_off_t sent)
{
    (void)to_read;
    (void)read;
    (void)to_send;
    (void)sent;
    return is_over(MAGIC_CAST(http_client, ctx));
}

static CURLcode perform(struct http_client *c, struct http_exchange *x)
{
    curl_easy_setopt(x->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(x->easy, CURLOPT_XFERINFODATA, c);
    curl_easy_setopt(x->easy, CURLOPT_NOPROGRESS, 0L);
    return curl_easy_perform(x->easy);
}

bool http_client_call(struct http_client *c, const struct http_request *req,
                      struct http_result *result, struct buf *out, struct err *err)
{
    struct http_exchange *x = take_call(c);
    size_t tries = address_set_count(c->addresses);

    do {
        http_exchange_begin(x, &c->opt, req, pick_address(c, x));
        end_exchange(c, x, perform(c, x), result);
    } while (--tries > 0 && may_repeat(req, result) && !is_over(c));

    if (result->outcome == HTTP_ANSWERED && out != NULL)
        buf_append(out, result->body);
    result->body = STR("");
    give_call_back(c, x);
    if (result->outcome == HTTP_ANSWERED)
        return true;
    *err = result->err;
    return false;
}

static struct http_exchange *take_idle(struct http_client *c)
{
    struct http_exchange *x = take(&c->idle);

    return x != NULL ? x : http_exchange_new(&c->opt);
}

/* x->address is the destination. */
static void submit(struct http_client *c, struct http_exchange *x,
                   const struct http_request *req)
{
    assert(req->done != NULL);
    x->done = req->done;
    x->ctx = req->ctx;
    http_exchange_begin(x, &c->opt, req, address_set_url(c->addresses, x->address));
    push(&c->running, x);
    c->n_running++;

    CURLMcode rc = curl_multi_add_handle(c->multi, x->easy);

    assert(rc == CURLM_OK);
    (void)rc;
}

void http_client_submit(struct http_client *c, const struct http_request *req)
{
    struct http_exchange *x = take_idle(c);

    x->is_question = false;
    pick_address(c, x);
    submit(c, x, req);
}

static void end_question(void *ctx, const struct http_result *result)
{
    struct http_client *c = MAGIC_CAST(http_client, ctx);

    (void)result; /* the address set records it */
    c->is_asking = false;
}

void http_client_ask(struct http_client *c)
{
    size_t address;

    if (c->is_asking || !address_set_ask(c->addresses, clock_mono_ms(), &address))
        return;

    struct http_exchange *x = take_idle(c);

    c->is_asking = true;
    x->is_question = true;
    x->address = address;
    submit(c, x,
           &(struct http_request){.method = "GET",
                                  .path = STR("/"),
                                  .timeout_ms = QUESTION_MS,
                                  .done = end_question,
                                  .ctx = c});
}

static void finish(struct http_client *c, CURL *easy, CURLcode code)
{
    struct http_exchange *x = NULL;
    struct http_result result;

    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&x);
    assert(x != NULL);
    end_exchange(c, x, code, &result);
    curl_multi_remove_handle(c->multi, easy);
    unlink_from(&c->running, x);
    c->n_running--;
    x->done(x->ctx, &result);
    push(&c->idle, x);
}

static size_t move_on(struct http_client *c)
{
    int n_left;
    size_t n_ended = 0;

    curl_multi_perform(c->multi, &n_left);
    if (c->running != NULL && http_exchange_is_sent(c->running))
        FAILPOINT(bulk_sent);
    for (CURLMsg *msg; (msg = curl_multi_info_read(c->multi, &n_left)) != NULL;) {
        if (msg->msg != CURLMSG_DONE)
            continue;
        finish(c, msg->easy_handle, msg->data.result);
        n_ended++;
    }
    return n_ended;
}

size_t http_client_poll(struct http_client *c, int64_t max_wait_ms)
{
    size_t n_ended = move_on(c);

    if (n_ended > 0 || max_wait_ms <= 0)
        return n_ended;
    curl_multi_poll(c->multi, NULL, 0, max_wait_ms < INT_MAX ? (int)max_wait_ms : INT_MAX,
                    NULL);
    return move_on(c);
}

void http_client_wakeup(struct http_client *c)
{
    curl_multi_wakeup(c->multi);
}

size_t http_client_pending(const struct http_client *c)
{
    return c->n_running;
}

bool http_client_has_other(struct http_client *c, const char *address)
{
    return address_set_has_other(c->addresses, address);
}
