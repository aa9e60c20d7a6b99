#include "config.h"

#include "web/api.h"

#include "rebalance/admin/drain.h"
#include "rebalance/admin/settings.h"
#include "rebalance/state/coordinator.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "web/body.h"
#include "web/operation/operation.h"
#include "web/request.h"

#include <cJSON.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 32 /* bytes for a value sent as a number */

void api_delivery(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200,
           coordinator_delivery_settings(c->api->coordinator, c->args[0], &c->res->body, &err),
           &err);
}

/* Read a value as in the configuration file; null means the configured one. */
static bool read_value(const cJSON *m, char number[NUMBER_MAX], struct str *out,
                       struct err *err)
{
    *out = (struct str){0};
    if (cJSON_IsString(m))
        *out = str_from(m->valuestring);
    else if (cJSON_IsBool(m))
        *out = cJSON_IsTrue(m) ? STR("true") : STR("false");
    else if (cJSON_IsNumber(m)) {
        snprintf(number, NUMBER_MAX, "%.15g", m->valuedouble);
        *out = str_from(number);
    } else if (!cJSON_IsNull(m))
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "\"%.60s\" must be a text, a number, true, false or null",
                            m->string);
    return true;
}

static bool set(struct api_call *c, const cJSON *body, struct err *err)
{
    const size_t n = (size_t)cJSON_GetArraySize(body);
    struct setting_change *changes = mem_alloc(n + 1, sizeof(*changes));
    char(*numbers)[NUMBER_MAX] = mem_alloc(n + 1, sizeof(*numbers));
    size_t i = 0;
    bool ok = n > 0 || err_set_code(err, ERR_REJECT, "http", 400,
                                    "nothing to set: give \"NAME\": \"VALUE\"");

    for (const cJSON *m = body->child; ok && m != NULL; m = m->next, i++) {
        changes[i].name = str_from(m->string);
        ok = read_value(m, numbers[i], &changes[i].value, err);
    }
    ok = ok && coordinator_delivery_set(c->api->coordinator, changes, n, c->dry_run,
                                        &c->res->body, err);
    free(changes);
    free(numbers);
    return ok;
}

void api_delivery_set(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, 200,
           body_parse(&body, c->req, NULL, &err) && body_unique(body, &err) &&
               set(c, body, &err),
           &err);
    cJSON_Delete(body);
}

void api_delivery_reset(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, 200,
           body_parse(&body, c->req, c->op->members, &err) &&
               coordinator_delivery_set(c->api->coordinator, NULL, 0, c->dry_run, &c->res->body,
                                        &err),
           &err);
    cJSON_Delete(body);
}

/* ---- drains ---- */

static bool drain(struct api_call *c, const cJSON *body, struct err *err)
{
    struct drain_request r = {.all = true, .timeout_ms = -1, .dry_run = c->dry_run};
    uint64_t worker = UINT64_MAX, timeout_ms = UINT64_MAX;

    if (!body_uint(body, "worker", &worker, err) ||
        !body_uint(body, "timeout_ms", &timeout_ms, err))
        return false;
    if (timeout_ms != UINT64_MAX)
        r.timeout_ms = timeout_ms < INT64_MAX ? (int64_t)timeout_ms : INT64_MAX;
    if (worker != UINT64_MAX) {
        r.all = false;
        r.worker = worker < UINT_MAX ? (unsigned)worker : UINT_MAX;
    }
    return coordinator_drain(c->api->coordinator, &r, &c->res->body, err);
}

void api_drain(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, c->dry_run ? 200 : 202,
           body_parse(&body, c->req, c->op->members, &err) && drain(c, body, &err), &err);
    cJSON_Delete(body);
}

void api_drain_cancel(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, 200,
           body_parse(&body, c->req, c->op->members, &err) &&
               coordinator_drain_cancel(c->api->coordinator, c->dry_run, &c->res->body, &err),
           &err);
    cJSON_Delete(body);
}

/* ---- the whole configuration ---- */

void api_config(struct api_call *c)
{
    coordinator_configuration(c->api->coordinator, &c->res->body);
}
