#include "config.h"

#include "web/api.h"

#include "rebalance/fill/parameters.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/version/index.h"
#include "web/body.h"
#include "web/operation/operation.h"
#include "web/request.h"

#include <cJSON.h>

static bool create(struct api_call *c, const cJSON *body, bool *dry_run, struct err *err)
{
    struct index_create_options opt = {0};
    struct str check = STR(""), by = STR("");
    uint64_t chunk = 0;

    if (!body_uint(body, "rate", &opt.rate, err) || !body_uint(body, "chunk", &chunk, err) ||
        !body_uint(body, "buckets", &opt.buckets, err) ||
        !body_uint(body, "nodes", &opt.nodes, err) || !body_str(body, "buckets_by", &by, err) ||
        !body_bool(body, "take_index", &opt.take_index, err) ||
        !body_bool(body, "take_alias", &opt.take_alias, err) ||
        !body_bool(body, "hold", &opt.hold, err) || !body_uint(body, "keep", &opt.keep, err) ||
        !body_str(body, "verify", &check, err) ||
        !body_bool(body, "dry_run", &opt.dry_run, err))
        return false;
    *dry_run = opt.dry_run;
    opt.checks = check.len > 0;
    if (opt.checks && !build_check_find(check, &opt.check))
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "\"verify\" must be \"sample\", \"full\" or \"none\"");
    if (by.len > 0 && !buckets_by_find(by, &opt.by))
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "\"buckets_by\" must be \"column\", \"key\" or \"mod\"");
    opt.keeps = cJSON_GetObjectItemCaseSensitive(body, "keep") != NULL;
    opt.chunk = (size_t)chunk;
    return coordinator_index_create(c->api->coordinator, c->args[0], &opt, &c->res->body, err);
}

void api_index_create(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;
    bool dry_run = false;
    const bool ok =
        body_parse(&body, c->req, c->op->members, &err) && create(c, body, &dry_run, &err);

    answer(c, dry_run ? 200 : 202, ok, &err);
    cJSON_Delete(body);
}

static bool set(struct api_call *c, const cJSON *body, struct err *err)
{
    struct job_change change = {
        .sets_rate = cJSON_GetObjectItemCaseSensitive(body, "rate") != NULL,
        .sets_nodes = cJSON_GetObjectItemCaseSensitive(body, "nodes") != NULL};

    if (!change.sets_rate && !change.sets_nodes)
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "nothing to set: give \"rate\" or \"nodes\"");
    return body_uint(body, "rate", &change.rate, err) &&
           body_uint(body, "nodes", &change.nodes, err) &&
           coordinator_index_set(c->api->coordinator, c->args[0], &change, c->dry_run,
                                 &c->res->body, err);
}

void api_index_set(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, 200, body_parse(&body, c->req, c->op->members, &err) && set(c, body, &err), &err);
    cJSON_Delete(body);
}

static bool cut_over(struct api_call *c, const cJSON *body, struct err *err)
{
    uint64_t accepted = 0;

    return body_uint(body, "accept_dead_letters", &accepted, err) &&
           coordinator_index_cutover(c->api->coordinator, c->args[0], accepted, c->dry_run,
                                     &c->res->body, err);
}

void api_index_cutover(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, c->dry_run ? 200 : 202,
           body_parse(&body, c->req, c->op->members, &err) && cut_over(c, body, &err), &err);
    cJSON_Delete(body);
}

static bool roll_back(struct api_call *c, const cJSON *body, struct err *err)
{
    uint64_t to = 0;

    return body_uint(body, "to", &to, err) &&
           coordinator_index_rollback(c->api->coordinator, c->args[0], to, c->dry_run,
                                      &c->res->body, err);
}

void api_index_rollback(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, 200, body_parse(&body, c->req, c->op->members, &err) && roll_back(c, body, &err),
           &err);
    cJSON_Delete(body);
}

void api_index_reset(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;
    bool ok = body_parse(&body, c->req, c->op->members, &err) &&
              coordinator_index_reset(c->api->coordinator, c->args[0], c->dry_run,
                                      &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_index_delete(struct api_call *c)
{
    uint64_t number = 0;
    struct err err = {0};

    if (c->args[1].len > 0 && (!body_parse_uint(c->args[1], &number) || number == 0)) {
        answer_bad(c, "a version is a whole number from 1");
        return;
    }
    answer(c, 200,
           coordinator_index_delete(c->api->coordinator, c->args[0], number, c->dry_run,
                                    &c->res->body, &err),
           &err);
}
