#include "config.h"

#include "web/api.h"

#include "rebalance/admin/questions.h"
#include "rebalance/state/coordinator.h"
#include "src/metric/metric.h"
#include "web/page.h"
#include "web/request.h"

void api_live(struct api_call *c)
{
    c->res->type = "text/plain; charset=utf-8";
    buf_append(&c->res->body, STR("ok\n"));
}

void api_ready(struct api_call *c)
{
    c->res->status = coordinator_ready(c->api->coordinator, &c->res->body) ? 200 : 503;
}

void api_metrics(struct api_call *c)
{
    struct buf samples = {0};

    c->res->type = "text/plain; version=0.0.4; charset=utf-8";
    metric_put_process(&samples);
    coordinator_metrics(c->api->coordinator, &samples);
    metric_render(&c->res->body, buf_str(&samples));
    buf_free(&samples);
}

void api_status(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200, coordinator_status(c->api->coordinator, &c->res->body, &err), &err);
}

void api_doctor(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200, coordinator_doctor(c->api->coordinator, &c->res->body, &err), &err);
}

void api_page(struct api_call *c)
{
    struct buf status = {0};
    struct err err = {0};

    if (coordinator_status(c->api->coordinator, &status, &err)) {
        c->res->type = "text/html; charset=utf-8";
        response_set_nonce(c->res);
        page_render(&c->res->body, buf_str(&status), c->res->nonce);
    } else {
        response_set_err(c->res, &err, STR(""));
    }
    buf_free(&status);
}

void api_version(struct api_call *c)
{
    buf_append(&c->res->body, STR("{\"schema\":\"millrace/program/1\",\"version\":"));
    buf_append_json(&c->res->body, c->api->version);
    buf_append(&c->res->body, STR("}\n"));
}
