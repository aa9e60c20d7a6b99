#include "config.h"

#include "web/pass_on.h"

#include "rebalance/delayed/orders.h"
#include "rebalance/shared/others.h"
#include "rebalance/shared/wishes.h"
#include "rebalance/state/owned.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/store/store.h"
#include "web/body.h"
#include "web/delayed_order.h"
#include "web/letter_filter.h"
#include "web/request.h"
#include "web/routes.h"

#include <cJSON.h>
#include <string.h>

/* Without the reason, which the node that was asked notes, and an older owner does not know. */
static void append_target(struct buf *out, struct str raw)
{
    const char *end = raw.ptr + raw.len, *p = memchr(raw.ptr, '?', raw.len);
    char before = '?';

    buf_append(out, (struct str){raw.ptr, p == NULL ? raw.len : (size_t)(p - raw.ptr)});
    while (p != NULL) {
        const char *next = memchr(p + 1, '&', (size_t)(end - p - 1));
        const struct str param = {p + 1, (size_t)((next == NULL ? end : next) - p - 1)};

        if (param.len < 4 || memcmp(param.ptr, "why=", 4) != 0) {
            buf_append_char(out, before);
            buf_append(out, param);
            before = '&';
        }
        p = next;
    }
}

/* Let the topic's owner answer.  Returns false if this node is to answer after all. */
static bool ask_owner(const struct route *r, const struct api_call *c, struct str topic)
{
    const struct request *req = c->req;
    struct buf target = {0};

    append_target(&target, req->target.raw);

    const struct wish_request wish = {.topic = topic,
                                      .user = req->user,
                                      .method = str_from(request_method_name(req->method)),
                                      .target = buf_str(&target),
                                      .body = req->body,
                                      .repeatable = (r->traits & MAY_REPEAT) != 0};
    bool nobody = false;
    struct err err = {0};

    const bool ok = coordinator_pass_on(c->api->coordinator, &wish, &c->res->status,
                                        &c->res->body, &nobody, &err);

    buf_free(&target);
    if (ok) {
        if (c->res->status >= 400)
            c->res->type = "application/problem+json";
        return true;
    }
    if (nobody && (r->traits & OR_HERE) != 0)
        return false;
    response_set_err(c->res, &err, STR(""));
    return true;
}

/* ---- what several topics have ---- */

/* What the owners have answered so far. */
struct answer_sum {
    uint64_t count;
    bool has_jobs; /* the form has them */
    struct json_writer jobs;
};

static void add_answer(struct answer_sum *sum, struct str answer)
{
    struct json_reader r;
    struct str jobs, job;
    uint64_t n = 0;

    json_find_u64(answer, "/count", &n);
    sum->count += n;
    if (!json_find(answer, "/jobs", &jobs))
        return;
    sum->has_jobs = true;
    json_reader_init(&r, jobs);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &job))
            json_write_raw(&sum->jobs, job);
}

/* The same request about what one topic has. */
static void ask_of_topic(const struct route *r, const struct api_call *c, cJSON *body,
                         const char *topic)
{
    struct request req = *c->req;
    struct api_call part = *c;

    cJSON_DeleteItemFromObject(body, "topic");
    cJSON_AddStringToObject(body, "topic", topic);

    char *text = cJSON_PrintUnformatted(body);

    req.body = str_from(text);
    part.req = &req;
    buf_clear(&c->res->body);
    if (!coordinator_is_others(c->api->coordinator, str_from(topic)) ||
        !ask_owner(r, &part, str_from(topic)))
        r->handle(&part);
    cJSON_free(text);
}

/* In the form of each answer. */
static void put_sum(struct buf *body, const struct answer_sum *sum, bool dry_run)
{
    struct json_writer w = {.out = body};
    struct buf schema = {0};

    (void)json_find_text(buf_str(body), "/schema", &schema);
    buf_clear(body);
    json_open_object(&w);
    json_put_string(&w, STR("schema"), buf_str(&schema));
    json_put_u64(&w, STR("count"), sum->count);
    if (sum->has_jobs)
        json_put_raw(&w, STR("jobs"), buf_str(sum->jobs.out));
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
    buf_free(&schema);
}

/* Ask for each topic, up to the first failure, and answer with the sum. */
static void ask_for_each(const struct route *r, const struct api_call *c, cJSON *body,
                         const struct str *topics, size_t n)
{
    struct buf jobs = {0};
    struct answer_sum sum = {.jobs = {.out = &jobs}};
    bool ok = true;

    json_open_array(&sum.jobs);
    for (size_t i = 0; ok && i < n; i++) {
        ask_of_topic(r, c, body, topics[i].ptr);
        ok = c->res->status < 300;
        add_answer(&sum, buf_str(&c->res->body));
    }
    json_close_array(&sum.jobs);
    if (ok)
        put_sum(&c->res->body, &sum, c->dry_run);
    buf_free(&jobs);
}

/* Returns false if no other node has any of these topics. */
static bool ask_owners_of(const struct route *r, const struct api_call *c, cJSON *body,
                          const struct str *topics, size_t n)
{
    size_t n_others = 0;

    for (size_t i = 0; i < n; i++)
        n_others += coordinator_is_others(c->api->coordinator, topics[i]);
    if (n_others > 0 && n == 1)
        return ask_owner(r, c, topics[0]);
    if (n_others > 0)
        ask_for_each(r, c, body, topics, n);
    return n_others > 0;
}

static bool pass_on_letters(const struct route *r, const struct api_call *c)
{
    struct dead_letter_filter f = {0};
    struct arena *a = arena_new();
    struct str *topics;
    struct err err = {0};
    cJSON *body = NULL;
    size_t n = 0;
    const bool done =
        body_parse(&body, c->req, NULL, &err) && letter_filter_read(body, &f, &err) &&
        coordinator_topics_of_letters(c->api->coordinator, &f, a, &topics, &n, &err) &&
        ask_owners_of(r, c, body, topics, n);

    cJSON_Delete(body);
    arena_free(a);
    return done;
}

static bool pass_on_delayed(const struct route *r, const struct api_call *c)
{
    uint64_t ids[DELAYED_IDS_MAX];
    struct delayed_order o = {.n_ids = 0};
    struct arena *a = arena_new();
    struct str *topics;
    struct err err = {0};
    cJSON *body = NULL;
    size_t n = 0;
    bool done = body_parse(&body, c->req, NULL, &err) &&
                delayed_order_read(body, ids, &o, &err) &&
                coordinator_topics_of_delayed(c->api->coordinator, &o, a, &topics, &n, &err);

    /* None begins unless all may: who asks again would meet the first one's run. */
    if (o.dry_run)
        done = false;
    else if (done && r->handle == api_delayed_run &&
             !coordinator_delayed_may_run(c->api->coordinator, &o, topics, n, &err))
        response_set_err(c->res, &err, STR(""));
    else
        done = done && ask_owners_of(r, c, body, topics, n);

    cJSON_Delete(body);
    arena_free(a);
    return done;
}

/* ---- one topic ---- */

/* A body that is no JSON is refused by whoever was asked. */
static bool is_sound(const struct request *req)
{
    struct err ignored = {0};
    cJSON *body = NULL;
    const bool ok = body_parse(&body, req, NULL, &ignored);

    cJSON_Delete(body);
    return ok;
}

static bool pass_on_topic(const struct route *r, const struct api_call *c, struct str topic)
{
    return coordinator_is_others(c->api->coordinator, topic) && is_sound(c->req) &&
           ask_owner(r, c, topic);
}

static bool pass_on_table(const struct route *r, const struct api_call *c)
{
    struct buf topic = {0};
    const bool done = coordinator_topic_of(c->api->coordinator, c->args[0], &topic) &&
                      pass_on_topic(r, c, buf_str(&topic));

    buf_free(&topic);
    return done;
}

/* What a node passes on has no room for it; it is refused by the owner, too, to be alike. */
static bool refuse_condition(const struct api_call *c)
{
    response_set_problem(
        c->res,
        &(struct response_problem){
            .status = 400,
            .detail = STR("several nodes share the store, so this call may be another "
                          "node's, and If-Match does not reach it; nothing was changed"),
            .fix = STR("send the call without If-Match")});
    return true;
}

bool pass_on(const struct route *r, const struct api_call *c)
{
    if (r->concern == CONCERNS_NODE || c->req->is_wish ||
        !coordinator_is_shared(c->api->coordinator))
        return false;
    if (c->req->if_match.len > 0)
        return refuse_condition(c);
    switch (r->concern) {
    case CONCERNS_NODE: break;
    case CONCERNS_TOPIC: return pass_on_topic(r, c, c->args[0]);
    case CONCERNS_ASKED_TOPIC:
        return pass_on_topic(r, c, request_param(&c->req->target, "topic"));
    case CONCERNS_TABLE: return pass_on_table(r, c);
    case CONCERNS_LETTERS: return pass_on_letters(r, c);
    case CONCERNS_DELAYED: return pass_on_delayed(r, c);
    }
    return false;
}
