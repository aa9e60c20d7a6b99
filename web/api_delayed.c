#include "config.h"

#include "web/api.h"

#include "rebalance/delayed/orders.h"
#include "src/format/zone.h"
#include "web/body.h"
#include "web/delayed_order.h"
#include "web/operation/operation.h"
#include "web/request.h"

#include <cJSON.h>

#define PAGE_MAX 10000

static bool is_one_of(const char *name, struct str value, const char *const *words,
                      struct err *err)
{
    struct buf all = {0};
    bool is = value.ptr == NULL;

    for (size_t i = 0; words[i] != NULL; i++) {
        is = is || str_equal(value, str_from(words[i]));
        buf_printf(&all, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    if (!is)
        err_set_code(err, ERR_REJECT, "http", 400, "`%s` is one of: %s", name, all.ptr);
    buf_free(&all);
    return is;
}

static bool is_day(struct str day, struct err *err)
{
    int64_t number;

    return day.ptr == NULL || day_parse(day, &number) ||
           err_set_code(err, ERR_REJECT, "http", 400, "`day` is a day as 2026-11-27");
}

static bool read_params(const struct request_target *t, struct snapshot_filter *f,
                        struct err *err)
{
    static const char *const ops[] = {"insert", "update", "delete", "table", NULL};
    static const char *const statuses[] = {"init", "running", "done", NULL};
    uint64_t limit = 0;

    f->topic = request_param(t, "topic");
    f->table = request_param(t, "table");
    f->op = request_param(t, "op");
    f->row_id = request_param(t, "row");
    f->day = request_param(t, "day");
    f->status = request_param(t, "status");
    if (!param_uint(t, "after", &f->after_id, err) || !param_uint(t, "limit", &limit, err) ||
        !is_one_of("op", f->op, ops, err) || !is_one_of("status", f->status, statuses, err) ||
        !is_day(f->day, err))
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
    struct err err = {0};
    bool waiting = true;
    const bool ok = param_bool(&c->req->target, "waiting", &waiting, &err) &&
                    coordinator_delayed_runs(c->api->coordinator, waiting, &c->res->body, &err);

    answer(c, 200, ok, &err);
}

typedef bool (*delayed_fn)(struct coordinator *co, const struct delayed_order *o,
                           struct buf *json, struct err *err);

static bool run(struct coordinator *co, const struct delayed_order *o, struct buf *json,
                struct err *err)
{
    return o->dry_run ? coordinator_delayed_cost(co, o, json, err)
                      : coordinator_delayed_run(co, o, json, err);
}

/* status: of what was not only tried. */
static void act(struct api_call *c, delayed_fn fn, int status)
{
    uint64_t ids[DELAYED_IDS_MAX];
    struct delayed_order o = {.dry_run = c->dry_run};
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = body_parse(&body, c->req, c->op->members, &err) &&
                    delayed_order_read(body, ids, &o, &err) &&
                    fn(c->api->coordinator, &o, &c->res->body, &err);

    answer(c, o.dry_run ? 200 : status, ok, &err);
    cJSON_Delete(body);
}

void api_delayed_run(struct api_call *c)
{
    act(c, run, 202);
}

void api_delayed_done(struct api_call *c)
{
    act(c, coordinator_delayed_done, 200);
}
