#include "config.h"

#include "src/search/sniff.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/net/address_set.h"
#include "src/net/http_client.h"
#include "src/search/engine_error.h"
#include "src/search/nodes.h"
#include "src/search/search.h"

#include <stdlib.h>

#define TICK_MS    1000 /* the least time from a failure to a question, and between questions */
#define TIMEOUT_MS 5000
#define RETRY_MS   10000 /* delay after a question that failed */
#define POLL_MS    100   /* how long a stop may wait for us */

struct search_sniff {
    enum magic magic;
    struct search *search;
    struct address_set *addresses;
    struct http_client *http;
    int64_t interval_ms;
    struct stop stop;
    pthread_t thread;
    bool has_failed; /* of the last question; logged once */

    /* The current question. */
    bool is_answered;
    struct err err; /* ERR_NONE: answer holds the answer */
    struct buf answer;
};

static const char *fix_of(const struct http_result *result)
{
    return result->status == 403
               ? "; our user may not monitor the cluster: give it that right, or set "
                 "search.sniff to false"
               : engine_error_fix(result->status, result->body);
}

static void take_answer(void *ctx, const struct http_result *result)
{
    struct search_sniff *sniff = MAGIC_CAST(search_sniff, ctx);
    const bool is_good =
        result->outcome == HTTP_ANSWERED && result->status >= 200 && result->status <= 299;

    sniff->is_answered = true;
    search_count_query(sniff->search, !is_good, result->took_ms * 1000);
    if (is_good)
        buf_append(&sniff->answer, result->body);
    else if (result->outcome == HTTP_ANSWERED)
        err_set_code(&sniff->err, ERR_REJECT, "http", result->status, "%s: GET %s: %d%s",
                     result->address, SEARCH_NODES_PATH, result->status, fix_of(result));
    else
        sniff->err = result->err;
}

/* Returns false if there is no list of nodes, with the reason in sniff->err, or on a stop. */
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

/* Puts an address that fails aside and asks the next one. */
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
    const struct search_options *opt = search_get_options(sniff->search);

    if (!fetch(sniff) ||
        !search_nodes_read(&nodes, buf_str(&sniff->answer), opt->urls[0], &sniff->err))
        return false;

    const size_t foreign = search_nodes_keep(&nodes, opt->sniff_hosts, opt->n_sniff_hosts);

    if (nodes.n == 0)
        return err_set(&sniff->err, ERR_REJECT,
                       "search.sniff_hosts names none of the %zu nodes that the engine reports",
                       foreign);
    if (address_set_found(sniff->addresses, (const char *const *)nodes.urls, nodes.n,
                          clock_mono_ms()))
        log_info("the search engine reports other addresses", KV("nodes", nodes.n));
    search_nodes_free(&nodes);
    return true;
}

/* Returns when to ask again if nothing happens. */
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
    struct search_sniff *sniff = MAGIC_CAST(search_sniff, arg);

    do {
        const uint64_t failures = address_set_failures(sniff->addresses);
        const int64_t due_ms = ask(sniff);

        while (!stop_wait(&sniff->stop, TICK_MS))
            if (clock_mono_ms() >= due_ms || address_set_failures(sniff->addresses) != failures)
                break;
    } while (!stop_is_set(&sniff->stop));
    return NULL;
}

struct search_sniff *search_sniff_start(struct search *s, int64_t interval_ms)
{
    struct search_sniff *sniff = mem_alloc(1, sizeof(*sniff));

    sniff->magic = MAGIC_search_sniff;
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
    MAGIC_END(search_sniff, sniff);
    free(sniff);
}
