#include "config.h"

#include "web/api.h"

#include "rebalance/admin/definitions.h"
#include "rebalance/admin/questions.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/topic/orders.h"
#include "src/base/mem.h"
#include "src/format/variable.h"
#include "web/body.h"
#include "web/request.h"

#include <cJSON.h>
#include <stdlib.h>

#define APPLY_FILES_MAX 1000

static const char *const no_members[] = {NULL};

static bool read_file(const cJSON *item, struct apply_file *out, struct err *err)
{
    if (!cJSON_IsObject(item))
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "each of \"files\" must be an object");
    return body_str(item, "name", &out->name, err) && body_str(item, "text", &out->text, err) &&
           body_str(item, "folder", &out->folder, err);
}

/* Read the body's files.  The caller frees *out, on failure too. */
static bool read_files(const cJSON *body, struct apply_file **out, size_t *n, struct err *err)
{
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(body, "files");
    int count = cJSON_GetArraySize(files);

    *out = NULL;
    *n = 0;
    if (!cJSON_IsArray(files) || count == 0 || count > APPLY_FILES_MAX)
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "\"files\" must be a list of 1 to %d files", APPLY_FILES_MAX);
    *out = mem_alloc((size_t)count, sizeof(**out));

    const cJSON *item;

    cJSON_ArrayForEach (item, files)
        if (!read_file(item, &(*out)[(*n)++], err))
            return false;
    return true;
}

/* ---- variables ---- */

static struct str find_variable(const void *from, struct str name)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, (const cJSON *)from)
        if (str_equal(name, str_from(item->string)))
            return str_from(item->valuestring);
    return (struct str){NULL, 0};
}

/* The body's variables: an object of texts; absent: none. */
static bool read_variables(const cJSON *body, struct variables *out, struct err *err)
{
    const cJSON *item, *all = cJSON_GetObjectItemCaseSensitive(body, "variables");
    bool ok = all == NULL || cJSON_IsObject(all);

    cJSON_ArrayForEach (item, all)
        ok = ok && cJSON_IsString(item);
    *out = (struct variables){find_variable, all};
    return ok || err_set_code(err, ERR_REJECT, "http", 400,
                              "\"variables\" must be an object of texts");
}

static bool apply(struct api_call *c, const cJSON *body, struct err *err)
{
    struct apply_file *files = NULL;
    struct variables variables;
    struct apply_request r = {.variables = &variables};
    bool ok = body_bool(body, "dry_run", &r.dry_run, err) &&
              body_bool(body, "prune", &r.prune, err) &&
              body_bool(body, "take_alias", &r.take_alias, err) &&
              read_variables(body, &variables, err) && read_files(body, &files, &r.n, err);

    r.files = files;
    ok = ok && coordinator_apply(c->api->coordinator, &r, &c->res->body, err);
    free(files);
    return ok;
}

void api_apply(struct api_call *c)
{
    static const char *const members[] = {"files",      "dry_run",   "prune",
                                          "take_alias", "variables", NULL};
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, 200, body_parse(&body, c->req, members, &err) && apply(c, body, &err), &err);
    cJSON_Delete(body);
}

void api_export(struct api_call *c)
{
    struct err err = {0};

    c->res->type = "application/yaml";
    answer(c, 200, coordinator_export(c->api->coordinator, &c->res->body, &err), &err);
}

void api_list(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200,
           coordinator_list(c->api->coordinator, str_from(c->noun), c->args[0], &c->res->body,
                            &err),
           &err);
}

void api_delete(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200,
           coordinator_delete(c->api->coordinator, str_from(c->noun), c->args[0], &c->res->body,
                              &err),
           &err);
}

void api_table_delete(struct api_call *c)
{
    static const char *const members[] = {"confirm", NULL};
    struct str confirm = STR("");
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok =
        body_parse(&body, c->req, members, &err) && body_str(body, "confirm", &confirm, &err) &&
        coordinator_delete_table(c->api->coordinator, c->args[0], confirm, &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

static void act_on_topic(struct api_call *c,
                         bool (*act)(struct coordinator *co, struct str topic, struct buf *json,
                                     struct err *err))
{
    struct err err = {0};
    cJSON *body = NULL;
    bool ok = body_parse(&body, c->req, no_members, &err) &&
              act(c->api->coordinator, c->args[0], &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_topic_reset(struct api_call *c)
{
    act_on_topic(c, coordinator_topic_reset);
}

void api_topic_resume(struct api_call *c)
{
    act_on_topic(c, coordinator_topic_resume);
}

void api_explain(struct api_call *c)
{
    static const char *const params[] = {"key", NULL};
    struct str key = request_param(&c->req->target, "key");
    struct err err = {0};
    bool ok = param_known(&c->req->target, params, &err);

    if (ok && key.len == 0)
        ok = err_set_code(&err, ERR_REJECT, "http", 400,
                          "which row? give the parameter \"key\"");
    answer(c, 200,
           ok && coordinator_explain(c->api->coordinator, c->args[0], key, &c->res->body, &err),
           &err);
}

void api_mapping(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200, coordinator_mapping(c->api->coordinator, c->args[0], &c->res->body, &err),
           &err);
}

void api_columns(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200,
           coordinator_generate_columns(c->api->coordinator, c->args[0], &c->res->body, &err),
           &err);
}
