#include "config.h"

#include "web/api.h"

#include "rebalance/replay/replay.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/trace/trace.h"
#include "rebalance/verify/verify.h"
#include "src/base/mem.h"
#include "web/body.h"
#include "web/operation/operation.h"
#include "web/request.h"

#include <cJSON.h>
#include <stdlib.h>

/* Read the list of keys.  The caller frees *out, on failure too. */
static bool read_keys(const cJSON *body, struct str **out, size_t *n, struct err *err)
{
    const cJSON *item, *keys = cJSON_GetObjectItemCaseSensitive(body, "keys");
    const int count = cJSON_GetArraySize(keys);

    *n = 0;
    *out = mem_alloc((size_t)count + 1, sizeof(**out));
    if (!cJSON_IsArray(keys) || count == 0 || count > VERIFY_KEYS_MAX)
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "\"keys\" must be a list of 1 to %d keys", VERIFY_KEYS_MAX);
    cJSON_ArrayForEach (item, keys) {
        if (!cJSON_IsString(item) || item->valuestring[0] == '\0')
            return err_set_code(err, ERR_REJECT, "http", 400,
                                "each of \"keys\" must be a text");
        (*out)[(*n)++] = str_from(item->valuestring);
    }
    return true;
}

static bool verify_keys(struct api_call *c, const cJSON *body, struct err *err)
{
    struct verify_request r = {.table = c->args[0]};
    struct str *keys = NULL;
    const bool ok = body_bool(body, "repair", &r.repair, err) &&
                    body_bool(body, "values", &r.values, err) &&
                    read_keys(body, &keys, &r.n_keys, err);

    r.keys = keys;
    r.repair = r.repair && !c->dry_run;

    const bool done = ok && coordinator_verify(c->api->coordinator, &r, &c->res->body, err);

    free(keys);
    return done;
}

/* A dry run of a repair compares, and its report says what would be written. */
static bool verify_all(struct api_call *c, const cJSON *body, struct err *err)
{
    struct verify_order o = {.table = c->args[0],
                             .samples = cJSON_HasObjectItem(body, "sample"),
                             .changed = cJSON_HasObjectItem(body, "since")};

    if (!body_bool(body, "repair", &o.repair, err) || !body_bool(body, "yes", &o.yes, err))
        return false;
    if (c->dry_run)
        o.repair = o.yes = false;
    return body_bool(body, "values", &o.values, err) && body_uint(body, "rate", &o.rate, err) &&
           body_uint(body, "version", &o.version, err) &&
           body_uint(body, "sample", &o.sample, err) &&
           body_str(body, "where", &o.where, err) && body_str(body, "since", &o.since, err) &&
           coordinator_verify_all(c->api->coordinator, &o, &c->res->body, err);
}

/* With keys it is a question, which is answered; without, the order of a job. */
void api_verify(struct api_call *c)
{
    struct err err = {0};
    cJSON *any = NULL, *body = NULL;
    bool ok = body_parse(&any, c->req, NULL, &err);
    const bool keys = ok && cJSON_HasObjectItem(any, c->op->or_members->name);

    ok = ok && body_parse(&body, c->req, keys ? c->op->or_members : c->op->members, &err);
    if (keys)
        answer(c, 200, ok && verify_keys(c, body, &err), &err);
    else
        answer(c, 202, ok && verify_all(c, body, &err), &err);
    cJSON_Delete(any);
    cJSON_Delete(body);
}

static bool refresh(struct api_call *c, const cJSON *body, struct err *err)
{
    struct verify_order o = {.table = c->args[0],
                             .repair = true,
                             .yes = true,
                             .rewrites = true,
                             .dry_run = c->dry_run};
    struct str *keys = NULL;
    const bool ok =
        body_uint(body, "rate", &o.rate, err) && body_str(body, "where", &o.where, err) &&
        (!cJSON_HasObjectItem(body, "keys") || read_keys(body, &keys, &o.n_keys, err));

    o.keys = keys;

    const bool done = ok && coordinator_verify_all(c->api->coordinator, &o, &c->res->body, err);

    free(keys);
    return done;
}

void api_index_refresh(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, c->dry_run ? 200 : 202,
           body_parse(&body, c->req, c->op->members, &err) && refresh(c, body, &err), &err);
    cJSON_Delete(body);
}

void api_index_refresh_cancel(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = body_parse(&body, c->req, c->op->members, &err) &&
                    coordinator_cancel_refresh(c->api->coordinator, c->args[0], c->dry_run,
                                               &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_replay(struct api_call *c)
{
    struct replay_order o = {.table = c->args[0], .dry_run = c->dry_run};
    struct err err = {0};
    cJSON *body = NULL;
    bool ok = body_parse(&body, c->req, c->op->members, &err);

    o.has_rate = ok && cJSON_HasObjectItem(body, "rate");
    ok = ok && body_str(body, "day", &o.day, &err) && body_uint(body, "rate", &o.rate, &err);
    answer(c, c->dry_run ? 200 : 202,
           ok && coordinator_replay_day(c->api->coordinator, &o, &c->res->body, &err), &err);
    cJSON_Delete(body);
}

static bool read_trace(struct api_call *c, struct trace_request *r, struct err *err)
{
    const struct request_target *t = &c->req->target;
    const struct str log = request_param(t, "log");

    *r = (struct trace_request){.table = c->args[0],
                                .key = request_param(t, "key"),
                                .log = str_equal(log, STR("true")),
                                .from = request_param(t, "from")};
    if (r->key.len == 0)
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "which row? give the parameter \"key\"");
    if (log.len > 0 && !r->log && !str_equal(log, STR("false")))
        return err_set_code(err, ERR_REJECT, "http", 400, "\"log\" must be true or false");
    if (r->from.len > 0 && !r->log)
        return err_set_code(err, ERR_REJECT, "http", 400, "\"from\" goes with log=true");
    return true;
}

void api_trace(struct api_call *c)
{
    struct trace_request r;
    struct err err = {0};
    const bool ok = read_trace(c, &r, &err);

    answer(c, 200, ok && coordinator_trace(c->api->coordinator, &r, &c->res->body, &err), &err);
}

void api_reports(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200, coordinator_list_reports(c->api->coordinator, &c->res->body, &err), &err);
}

/* The id of a drain or a doctor is no number; what these say is for operators. */
static bool may_read(const struct api_call *c, struct err *err)
{
    uint64_t ignored;

    return c->req->role >= ROLE_OPERATOR || body_parse_uint(c->args[0], &ignored) ||
           err_set_code(err, ERR_REJECT, "http", 403,
                        "the reports of drains and doctors need the role operator");
}

void api_report(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200,
           may_read(c, &err) &&
               coordinator_get_report(c->api->coordinator, c->args[0], &c->res->body, &err),
           &err);
}
