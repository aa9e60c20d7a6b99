#include "config.h"

#include "web/api.h"

#include "rebalance/admin/questions.h"
#include "rebalance/history/history.h"
#include "rebalance/state/coordinator.h"
#include "src/metric/metric.h"
#include "web/body.h"
#include "web/openapi.h"
#include "web/operation/operation.h"
#include "web/page/page.h"
#include "web/request.h"
#include "web/ui/asset.h"

#include <cJSON.h>

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

/* The server sends the events (web/stream/streams.h). */
void api_events(struct api_call *c)
{
    c->res->type = "text/event-stream";
    c->res->is_stream = true;
    response_add_header(c->res, "X-Accel-Buffering", "no");
}

void api_history(struct api_call *c)
{
    const struct request_target *t = &c->req->target;
    struct err err = {0};
    uint64_t hours = 1;

    answer(c, 200,
           param_uint(t, "hours", &hours, &err) &&
               coordinator_history(c->api->coordinator, request_param(t, "topic"), hours,
                                   &c->res->body, &err),
           &err);
}

void api_doctor(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200, coordinator_doctor(c->api->coordinator, &c->res->body, &err), &err);
}

void api_doctor_start(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, 202,
           body_parse(&body, c->req, c->op->members, &err) &&
               coordinator_start_doctor(c->api->coordinator, &c->res->body, &err),
           &err);
    cJSON_Delete(body);
}

/* It tells topics, addresses and errors: on this machine to everybody, to others with a role.
 */
void api_status_page(struct api_call *c)
{
    struct buf status = {0};
    struct err err = {0};

    if (c->req->is_open && c->req->role < ROLE_VIEWER) {
        response_ask_for_token(c->res, STR("other machines reach this port, so it shows the "
                                           "status page to callers with a role alone"));
        return;
    }
    if (coordinator_status(c->api->coordinator, &status, &err)) {
        c->res->type = "text/html; charset=utf-8";
        response_set_nonce(c->res);
        page_render(&c->res->body, buf_str(&status), c->res->nonce);
    } else {
        response_set_err(c->res, &err, STR(""));
    }
    buf_free(&status);
}

/* A browser asks again for what keeps its name, and for nothing that is named by its content.
 */
static void answer_asset(struct api_call *c, const struct page_asset *a)
{
    const bool known = page_asset_is_known(a, c->req->if_none_match);
    const bool as_is = page_asset_takes_gzip(c->req->accept_encoding);
    struct err err = {0};

    if (!known && as_is)
        buf_append(&c->res->body, (struct str){(const char *)a->gzip, a->n_gzip});
    if (!known && !as_is && !page_asset_inflate(a, &c->res->body)) {
        err_set(&err, ERR_FATAL, "the program's copy of %s is damaged; fix: install it again",
                a->name);
        response_set_err(c->res, &err, STR(""));
        return;
    }
    c->res->status = known ? 304 : 200;
    c->res->type = a->type;
    c->res->cache = a->lasting ? "public, max-age=31536000, immutable" : "no-cache";
    c->res->is_of_page = true;
    response_add_header(c->res, "ETag", a->etag);
    response_add_header(c->res, "Vary", "Accept-Encoding");
    if (!known && as_is)
        response_add_header(c->res, "Content-Encoding", "gzip");
}

void api_page(struct api_call *c)
{
    const struct page_asset *index = page_asset_find(STR("index.html"));

    if (index != NULL)
        answer_asset(c, index);
    else
        api_status_page(c);
}

/* The index is at the address / alone, as what it refers to is relative to that. */
void api_page_file(struct api_call *c)
{
    const struct page_asset *a = page_asset_find(c->args[0]);

    if (a != NULL && !str_equal(c->args[0], STR("index.html")))
        answer_asset(c, a);
    else
        response_set_problem(
            c->res, &(struct response_problem){
                        .status = 404,
                        .detail = STR("the page has no file of this name"),
                        .fix = STR("load the page again: the program may be a newer one")});
}

void api_version(struct api_call *c)
{
    buf_append(&c->res->body, STR("{\"schema\":\"millrace/program/1\",\"version\":"));
    buf_append_json(&c->res->body, c->api->version);
    buf_append(&c->res->body, STR("}\n"));
}

void api_openapi(struct api_call *c)
{
    const struct openapi_facts facts = {.version = c->api->version, .prefix = c->api->prefix};

    openapi_append(c->routes, c->n_routes, &facts, &c->res->body);
}
