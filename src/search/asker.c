#include "config.h"

#include "src/search/asker.h"

#include "src/base/buf.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/net/address_set.h"
#include "src/net/http_client.h"
#include "src/search/search.h"

#include <stdlib.h>

#define POLL_MS 100 /* how long a stop may wait for us */

struct search_asker {
    enum magic magic;
    struct search *search;
    const struct stop *stop;
    struct http_client *http;

    /* The current question. */
    struct str path;
    bool is_answered, has_status;
    struct err err; /* ERR_NONE: answer holds the answer */
    struct buf answer;
};

struct search_asker *search_asker_new(struct search *s, const struct stop *stop)
{
    struct search_asker *a = mem_alloc(1, sizeof(*a));

    a->magic = MAGIC_search_asker;
    a->search = s;
    a->stop = stop;
    a->http = search_new_client(s);
    return a;
}

void search_asker_free(struct search_asker *a)
{
    if (a == NULL)
        return;
    http_client_free(a->http);
    buf_free(&a->answer);
    MAGIC_END(search_asker, a);
    free(a);
}

static void take_answer(void *ctx, const struct http_result *result)
{
    struct search_asker *a = MAGIC_CAST(search_asker, ctx);

    a->is_answered = true;
    a->has_status = result->outcome == HTTP_ANSWERED;
    search_count_query(a->search,
                       !a->has_status || result->status == 429 || result->status >= 500,
                       result->took_ms * 1000);
    if (!a->has_status)
        a->err = result->err;
    else if (search_is_success(result, "GET", a->path, result->body, &a->err))
        buf_append(&a->answer, result->body);
}

static bool ask_once(struct search_asker *a)
{
    a->is_answered = a->has_status = false;
    a->err = (struct err){0};
    buf_clear(&a->answer);
    http_client_submit(a->http,
                       &(struct http_request){
                           .method = "GET", .path = a->path, .done = take_answer, .ctx = a});
    while (!a->is_answered && !stop_is_set(a->stop))
        http_client_poll(a->http, POLL_MS);
    return a->has_status;
}

bool search_asker_get(struct search_asker *a, struct str path, struct buf *out, struct err *err)
{
    size_t tries = address_set_count(search_addresses(a->search));

    a->path = path;
    while (!ask_once(a) && --tries > 0 && !stop_is_set(a->stop))
        ;
    if (stop_is_set(a->stop))
        return err_set(err, ERR_STOP, "stopping");
    if (a->err.kind != ERR_NONE) {
        *err = a->err;
        return false;
    }
    buf_append(out, buf_str(&a->answer));
    return true;
}
