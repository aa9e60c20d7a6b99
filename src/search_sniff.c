#include "config.h"

#include "src/search_sniff.h"

#include "src/address_set.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/http_client.h"
#include "src/refusal.h"
#include "src/search.h"
#include "src/search_nodes.h"

#include <stdlib.h>

#define TICK_MS    1000 /* between a failure and the question, and between questions, at least */
#define TIMEOUT_MS 5000
#define RETRY_MS   10000 /* after a question that failed */
#define POLL_MS    100 /* how long the end may wait for us */

struct search_sniff {
    struct search *search;
    struct address_set *addresses;
    struct http_client *http;
    int64_t interval_ms;
    struct stop stop;
    pthread_t thread;
    bool has_failed; /* the last question; said once */

    /* The question on its way. */
    bool is_answered;
    struct err err; /* kind ERR_NONE: answer is one */
    struct buf answer;
};

static const char *fix_of(const struct http_result *result)
{
    return result->status == 403
               ? "; our user may not monitor the cluster: give it that right, or set "
                 "search.sniff to false"
               : refusal_fix(result->status, result->body);
}

static void take_answer(void *ctx, const struct http_result *result)
{
    struct search_sniff *sniff = ctx;
    const bool is_good =
        result->outcome == HTTP_ANSWERED && result->status >= 200 && result->status <= 299;

    sniff->is_answered = true;
    search_count_query(sniff->search, !is_good, result->took_ms * 1000);
    if (is_good)
        buf_append(&sniff->answer, result->body);
    else if (result->outcome == HTTP_ANSWERED)
        err_set_code(&sniff->err, ERR_REJECT, "http", result->status,
                     "%s: GET %s: %d%s", result->address, SEARCH_NODES_PATH, result->status,
                     fix_of(result));
    else
        sniff->err = result->err;
}

/* False: no list of nodes, for the reason in sniff->err; or it is time to stop. */
static bool fetch_once(struct search_sniff *sniff)
{
    sniff->is_answered = false;
    sniff->err = (struct err){0};
    buf_clear(&sniff->answer);
    http_client_submit(sniff->http, &(struct http_request){
                                        .method = "GET",
                                        .path = STR(SEARCH_NODES_PATH),
                                        .timeout_ms = TIMEOUT_MS,
                                        .done = take_answer,
                                        .ctx = sniff,
                                    });
    while (!sniff->is_answered && !stop_is_set(&sniff->stop))
        http_client_poll(sniff->http, POLL_MS);
    return sniff->is_answered && sniff->err.kind == ERR_NONE;
}

/* An address that fails is put aside, and the next one is asked. */
static bool fetch(struct search_sniff *sniff)
{
    for (size_t tries = address_set_count(sniff->addresses); tries > 0; tries--) {
        if (fetch_once(sniff))
            return true;
        if (stop_is_set(&sniff->stop))
            return false;
    }
    return false;
}

static bool follow(struct search_sniff *sniff)
{
    struct search_nodes nodes = {0};
    const char *like = search_get_options(sniff->search)->urls[0];

    if (!fetch(sniff) ||
        !search_nodes_read(&nodes, buf_str(&sniff->answer), like, &sniff->err))
        return false;
    if (address_set_found(sniff->addresses, (const char *const *)nodes.urls, nodes.n,
                          clock_mono_ms()))
        log_info("the search engine tells other addresses", KV("nodes", nodes.n));
    search_nodes_free(&nodes);
    return true;
}

/* Returns when to ask again, if nothing happens. */
static int64_t ask(struct search_sniff *sniff)
{
    const bool ok = follow(sniff);

    if (!ok && !sniff->has_failed && !stop_is_set(&sniff->stop))
        log_failure(LOG_WARN, &sniff->err,
                    "the search engine does not tell its nodes; known addresses are used");
    sniff->has_failed = !ok;
    return clock_mono_ms() +
           (ok || sniff->interval_ms < RETRY_MS ? sniff->interval_ms : RETRY_MS);
}

static void *run(void *arg)
{
    struct search_sniff *sniff = arg;

    do {
        const uint64_t failures = address_set_failures(sniff->addresses);
        const int64_t due_ms = ask(sniff);

        while (!stop_wait(&sniff->stop, TICK_MS))
            if (clock_mono_ms() >= due_ms ||
                address_set_failures(sniff->addresses) != failures)
                break;
    } while (!stop_is_set(&sniff->stop));
    return NULL;
}

struct search_sniff *search_sniff_start(struct search *s, int64_t interval_ms)
{
    struct search_sniff *sniff = mem_alloc(1, sizeof(*sniff));

    sniff->search = s;
    sniff->addresses = search_addresses(s);
    sniff->http = search_new_client(s);
    sniff->interval_ms = interval_ms;
    stop_init(&sniff->stop);
    sniff->thread = thread_start("sniff", run, sniff);
    return sniff;
}

void search_sniff_stop(struct search_sniff *sniff)
{
    if (sniff == NULL)
        return;
    stop_set(&sniff->stop);
    pthread_join(sniff->thread, NULL);
    stop_fini(&sniff->stop);
    http_client_free(sniff->http);
    buf_free(&sniff->answer);
    free(sniff);
}
