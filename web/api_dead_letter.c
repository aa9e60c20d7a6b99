#include "config.h"

#include "web/api.h"

#include "rebalance/dead_letter/orders.h"
#include "rebalance/state/coordinator.h"
#include "web/body.h"
#include "web/letter_filter.h"
#include "web/operation/operation.h"
#include "web/request.h"

#include <cJSON.h>

#define PAGE_MAX 10000

static bool read_params(const struct request_target *t, struct dead_letter_filter *f,
                        struct err *err)
{
    uint64_t limit = 0;

    f->topic = request_param(t, "topic");
    f->table = request_param(t, "table");
    f->index = request_param(t, "index");
    f->reason_like = request_param(t, "reason");
    if (!param_uint(t, "after", &f->after_id, err) || !param_uint(t, "limit", &limit, err) ||
        !param_bool(t, "body", &f->bodies, err))
        return false;
    f->limit = (size_t)(limit < PAGE_MAX ? limit : PAGE_MAX);
    return true;
}

void api_dead_letters(struct api_call *c)
{
    struct dead_letter_filter f = {0};
    struct err err = {0};
    bool ok = read_params(&c->req->target, &f, &err) &&
              coordinator_dead_letters(c->api->coordinator, &f, &c->res->body, &err);

    answer(c, 200, ok, &err);
}

void api_dead_letter(struct api_call *c)
{
    struct dead_letter_filter f = {.limit = 1, .bodies = true};
    struct err err = {0};

    if (!body_parse_uint(c->args[0], &f.id) || f.id == 0) {
        answer_bad(c, "a dead letter is named by its number");
        return;
    }
    answer(c, 200, coordinator_dead_letters(c->api->coordinator, &f, &c->res->body, &err),
           &err);
}

/* All that match. */
static bool read_which(struct api_call *c, cJSON **body, struct dead_letter_filter *f,
                       struct err *err)
{
    *f = (struct dead_letter_filter){0};
    return body_parse(body, c->req, c->op->members, err) && letter_filter_read(*body, f, err);
}

void api_dead_letter_replay(struct api_call *c)
{
    struct dead_letter_filter f;
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = read_which(c, &body, &f, &err) &&
                    coordinator_dead_letter_replay(c->api->coordinator, &f, c->dry_run,
                                                   &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_dead_letter_discard(struct api_call *c)
{
    struct dead_letter_filter f;
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = read_which(c, &body, &f, &err) &&
                    coordinator_dead_letter_discard(c->api->coordinator, &f, c->dry_run,
                                                    &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}
