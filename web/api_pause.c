#include "config.h"

#include "web/api.h"

#include "rebalance/state/coordinator.h"
#include "rebalance/topic/orders.h"
#include "rebalance/version/index.h"
#include "web/body.h"
#include "web/operation/operation.h"
#include "web/request.h"

#include <cJSON.h>

static void pause_it(struct api_call *c,
                     bool (*pause)(struct coordinator *co, struct str name, struct str reason,
                                   bool dry_run, struct buf *json, struct err *err))
{
    struct str reason = STR("");
    struct err err = {0};
    cJSON *body = NULL;
    bool ok = body_parse(&body, c->req, c->op->members, &err) &&
              body_str(body, "reason", &reason, &err) &&
              pause(c->api->coordinator, c->args[0], reason, c->dry_run, &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_topic_pause(struct api_call *c)
{
    pause_it(c, coordinator_topic_pause);
}

void api_index_pause(struct api_call *c)
{
    pause_it(c, coordinator_index_pause);
}

void api_index_resume(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;
    bool ok = body_parse(&body, c->req, c->op->members, &err) &&
              coordinator_index_resume(c->api->coordinator, c->args[0], c->dry_run,
                                       &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}
