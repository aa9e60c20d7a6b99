#include "config.h"

#include "sync/delivery/neighbours_ask.h"

#include "src/base/buf.h"
#include "src/base/magic.h"
#include "src/format/json.h"
#include "src/net/http_client.h"
#include "sync/delivery/sender.h"

#include <string.h>

/* A node that hangs must not make the address seem to: it counts as failed after a second. */
#define PATH                                                                             \
    "/_nodes/stats/indices/indexing?level=indices&timeout=1s&filter_path=_nodes.failed," \
    "nodes.*.indices.indices.*.indexing.index_total,"                                    \
    "nodes.*.indices.indices.*.indexing.delete_total"

/* ---- the answer ---- */

struct sum {
    struct index_queues *ours;
    uint64_t total;
};

/* Data streams write to hidden indexes. */
static bool is_of_others(const struct sum *sum, struct str raw_name)
{
    static const struct str streams = STR(".ds-");
    struct buf name = {0};

    json_unescape(&name, raw_name);

    const bool is_own =
        name.len > 0 && name.ptr[0] == '.' &&
        (name.len < streams.len || memcmp(name.ptr, streams.ptr, streams.len) != 0);
    const bool is = !is_own && index_queues_find(sum->ours, buf_str(&name)) == NULL;

    buf_free(&name);
    return is;
}

static void add_counters(struct json_reader *r, struct sum *sum)
{
    struct str key;
    uint64_t n;

    if (json_enter_object(r))
        while (json_next_member(r, &key))
            if (json_peek(r) == JSON_NUMBER && json_read_u64(r, &n))
                sum->total += n;
}

/* {NAME: {"indexing": {"index_total": 5, "delete_total": 1}}} */
static void add_indices(struct json_reader *r, struct sum *sum)
{
    struct str name, key;

    if (!json_enter_object(r))
        return;
    while (json_next_member(r, &name)) {
        const bool counts = is_of_others(sum, name);

        if (json_enter_object(r))
            while (json_next_member(r, &key))
                if (counts && json_string_equal(key, STR("indexing")))
                    add_counters(r, sum);
    }
}

/* {"indices": {"indices": ...}} */
static void add_node(struct json_reader *r, struct sum *sum)
{
    struct str key;

    if (!json_enter_object(r))
        return;
    while (json_next_member(r, &key)) {
        if (!json_string_equal(key, STR("indices")) || !json_enter_object(r))
            continue;
        while (json_next_member(r, &key))
            if (json_string_equal(key, STR("indices")))
                add_indices(r, sum);
    }
}

static void add_nodes(struct json_reader *r, struct sum *sum)
{
    struct str id;

    if (json_enter_object(r))
        while (json_next_member(r, &id))
            add_node(r, sum);
}

/* An engine without any index names no node. */
bool neighbours_read(struct str answer, struct index_queues *ours, uint64_t *total)
{
    struct sum sum = {.ours = ours};
    struct json_reader r;
    struct str key, about;
    struct err ignored;
    uint64_t failed = 1;

    json_reader_init(&r, answer);
    if (json_enter_object(&r))
        while (json_next_member(&r, &key)) {
            if (json_string_equal(key, STR("nodes")))
                add_nodes(&r, &sum);
            else if (json_string_equal(key, STR("_nodes")) && json_read_raw(&r, &about))
                (void)!json_find_u64(about, "/failed", &failed);
        }
    *total = sum.total;
    return json_reader_finish(&r, &ignored) && failed == 0;
}

/* ---- asking ---- */

static void on_answer(void *ctx, const struct http_result *result)
{
    struct sender *s = MAGIC_CAST(sender, ctx);
    uint64_t total;

    sender_look_at_clock(s);
    if (result->outcome == HTTP_ANSWERED && result->status == 200 &&
        neighbours_read(result->body, &s->index_queues, &total))
        neighbours_answer(&s->neighbours, total, s->now_ms);
    else
        neighbours_no_answer(&s->neighbours, s->now_ms);
}

static void ask(struct sender *s)
{
    neighbours_ask(&s->neighbours, s->now_ms);
    http_client_submit(s->http, &(struct http_request){
                                    .method = "GET",
                                    .path = STR(PATH),
                                    .timeout_ms = s->opt.settings.request_timeout_ms,
                                    .done = on_answer,
                                    .ctx = s,
                                });
}

void neighbours_turn(struct sender *s)
{
    const bool wants = s->opt.settings.builds == BUILDS_POLITE && s->guests.n > 0;

    if (wants && !s->stopping && neighbours_is_due(&s->neighbours, s->now_ms))
        ask(s);
    guests_set_alone(&s->guests, !neighbours_are_there(&s->neighbours, s->now_ms));
}
