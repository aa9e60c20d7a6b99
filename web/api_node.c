#include "config.h"

#include "web/api.h"

#include "rebalance/admin/nodes.h"
#include "rebalance/tell/alarms.h"
#include "web/body.h"
#include "web/operation/operation.h"
#include "web/request.h"

#include <cJSON.h>

void api_nodes(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200, coordinator_nodes(c->api->coordinator, c->args[0], &c->res->body, &err),
           &err);
}

void api_alarm_test(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, 200,
           body_parse(&body, c->req, c->op->members, &err) &&
               coordinator_test_alarms(c->api->coordinator, &c->res->body, &err),
           &err);
    cJSON_Delete(body);
}

void api_node_forget(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200,
           coordinator_forget_node(c->api->coordinator, c->args[0], c->dry_run, &c->res->body,
                                   &err),
           &err);
}

static void change(struct api_call *c, enum barrier_ask ask)
{
    struct node_request r = {.ask = ask, .node = STR(""), .topic = STR("")};
    struct err err = {0};
    cJSON *body = NULL;
    bool ok = body_parse(&body, c->req, c->op->members, &err) &&
              body_bool(body, "dry_run", &r.dry_run, &err) &&
              body_str(body, "to", &r.node, &err);

    *(ask == BARRIER_ASK_MOVE ? &r.topic : &r.node) = c->args[0];
    if (ok && ask == BARRIER_ASK_MOVE && r.node.len == 0)
        ok = err_set_code(&err, ERR_REJECT, "http", 400,
                          "to which node? give \"to\": a name, an id, or \"any\"");
    ok = ok && coordinator_change_nodes(c->api->coordinator, &r, &c->res->body, &err);
    answer(c, r.dry_run ? 200 : 202, ok, &err);
    cJSON_Delete(body);
}

void api_node_rebalance(struct api_call *c)
{
    change(c, BARRIER_ASK_REBALANCE);
}

void api_node_evacuate(struct api_call *c)
{
    change(c, BARRIER_ASK_EVACUATE);
}

void api_node_admit(struct api_call *c)
{
    change(c, BARRIER_ASK_ADMIT);
}

void api_topic_move(struct api_call *c)
{
    change(c, BARRIER_ASK_MOVE);
}
