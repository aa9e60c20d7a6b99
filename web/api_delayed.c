#include "config.h"

#include "web/api.h"

#include "rebalance/delayed/orders.h"
#include "web/body.h"
#include "web/delayed_order.h"
#include "web/request.h"

#include <cJSON.h>

#define PAGE_MAX 10000

static bool read_params(const struct request_target *t, struct snapshot_filter *f,
                        struct err *err)
{
    static const char *const names[] = {"topic",  "table", "op",    "row", "day",
                                        "status", "after", "limit", NULL};
    uint64_t limit = 0;

    f->topic = request_param(t, "topic");
    f->table = request_param(t, "table");
    f->op = request_param(t, "op");
    f->row_id = request_param(t, "row");
    f->day = request_param(t, "day");
    f->status = request_param(t, "status");
    if (!param_known(t, names, err) || !param_uint(t, "after", &f->after_id, err) ||
        !param_uint(t, "limit", &limit, err))
        return false;
    f->limit = (size_t)(limit < PAGE_MAX ? limit : PAGE_MAX);
    return true;
}

void api_delayed(struct api_call *c)
{
    struct snapshot_filter f = {0};
    struct err err = {0};
    const bool ok = read_params(&c->req->target, &f, &err) &&
                    coordinator_delayed(c->api->coordinator, &f, &c->res->body, &err);

    answer(c, 200, ok, &err);
}

void api_delayed_runs(struct api_call *c)
{
    static const char *const names[] = {"waiting", NULL};
    struct err err = {0};
    bool waiting = true;
    const bool ok = param_known(&c->req->target, names, &err) &&
                    param_bool(&c->req->target, "waiting", &waiting, &err) &&
                    coordinator_delayed_runs(c->api->coordinator, waiting, &c->res->body, &err);

    answer(c, 200, ok, &err);
}

typedef bool (*delayed_fn)(struct coordinator *co, const struct delayed_order *o,
                           struct buf *json, struct err *err);

static void act(struct api_call *c, const char *const *members, delayed_fn fn)
{
    uint64_t ids[DELAYED_IDS_MAX];
    struct delayed_order o = {.n_ids = 0};
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = body_parse(&body, c->req, members, &err) &&
                    delayed_order_read(body, ids, &o, &err) &&
                    fn(c->api->coordinator, &o, &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_delayed_run(struct api_call *c)
{
    static const char *const members[] = {"topic", "table", "ids", "all", NULL};

    act(c, members, coordinator_delayed_run);
}

void api_delayed_done(struct api_call *c)
{
    static const char *const members[] = {"topic", "ids", NULL};

    act(c, members, coordinator_delayed_done);
}
