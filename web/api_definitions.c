#include "config.h"

#include "web/api.h"

#include "rebalance/admin/definitions.h"
#include "rebalance/admin/questions.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/topic/orders.h"
#include "src/base/mem.h"
#include "src/format/variable.h"
#include "web/body.h"
#include "web/list/list_page.h"
#include "web/operation/operation.h"
#include "web/request.h"
#include "web/revision.h"

#include <cJSON.h>
#include <stdlib.h>

static bool read_file(const cJSON *item, struct apply_file *out, struct err *err)
{
    if (!cJSON_IsObject(item))
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "each of \"files\" must be an object");
    if (!body_known(item, file_input, err) || !body_str(item, "name", &out->name, err) ||
        !body_str(item, "text", &out->text, err) ||
        !body_str(item, "folder", &out->folder, err))
        return false;
    return out->text.ptr != NULL ||
           err_set_code(err, ERR_REJECT, "http", 400, "each of \"files\" needs its \"text\"");
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
    if (!ok)
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "\"variables\" must be an object of texts");
    return all == NULL || body_unique(all, err);
}

/* The files of a body, and the variables that they name. */
struct sent_files {
    struct apply_file *list; /* free() */
    struct variables variables;
    struct definition_files files;
};

static bool read_sent(const cJSON *body, struct sent_files *out, struct err *err)
{
    *out = (struct sent_files){0};
    out->files.variables = &out->variables;
    if (!read_variables(body, &out->variables, err) ||
        !read_files(body, &out->list, &out->files.n, err))
        return false;
    out->files.list = out->list;
    return true;
}

static bool apply(struct api_call *c, const cJSON *body, struct err *err)
{
    struct sent_files sent = {0};
    struct apply_request r = {0};
    uint64_t seen, revision = 0;
    bool ok = revision_terms(&r.terms, &seen, c->req, err) &&
              body_bool(body, "dry_run", &r.dry_run, err) &&
              body_bool(body, "prune", &r.prune, err) &&
              body_bool(body, "new", &r.is_new, err) &&
              body_bool(body, "take_alias", &r.take_alias, err) && read_sent(body, &sent, err);

    r.files = sent.files;
    ok = ok && coordinator_apply(c->api->coordinator, &r, &revision, &c->res->body, err);
    free(sent.list);
    if (ok)
        revision_tell(c->res, revision);
    return ok;
}

void api_apply(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, 200, body_parse(&body, c->req, c->op->members, &err) && apply(c, body, &err),
           &err);
    cJSON_Delete(body);
}

/* Paths of the machine are for those who work on it. */
static bool sees_files(const struct api_call *c)
{
    return c->req->role >= ROLE_OPERATOR;
}

void api_export(struct api_call *c)
{
    uint64_t revision;
    struct err err = {0};
    const bool ok =
        coordinator_export(c->api->coordinator, sees_files(c), &revision, &c->res->body, &err);

    c->res->type = "application/yaml";
    if (ok)
        revision_tell(c->res, revision);
    answer(c, 200, ok, &err);
}

static void list(struct api_call *c, struct list_order *order, bool ok, struct err *err)
{
    int64_t revision = -1;

    order->noun = str_from(c->noun);
    order->name = c->args[0];
    order->sees_rows = request_sees_rows(c->req);
    order->sees_files = sees_files(c);
    ok = ok && coordinator_list(c->api->coordinator, order, &revision, &c->res->body, err);
    if (ok && revision >= 0)
        revision_tell(c->res, (uint64_t)revision);
    answer(c, 200, ok, err);
}

void api_list(struct api_call *c)
{
    struct list_order order = {0};
    struct err err = {0};

    list(c, &order, true, &err);
}

/* The store makes its pages. */
void api_log(struct api_call *c)
{
    const struct request_target *t = &c->req->target;
    struct list_order order = {0};
    struct err err = {0};
    uint64_t limit = 0;
    const bool ok =
        param_uint(t, "after", &order.before_id, &err) && param_uint(t, "limit", &limit, &err);

    order.limit = (size_t)(limit < LIST_PAGE_MAX ? limit : LIST_PAGE_MAX);
    list(c, &order, ok, &err);
}

/* ---- one definition by itself ---- */

static const struct kind_of_definition {
    const char *noun;
    const char *list;     /* in a file */
    const char *names[2]; /* the members that name one */
} kinds[] = {
    {"topic", "topics", {"name", "name"}},
    {"database", "databases", {"name", "name"}},
    {"table", "tables", {"table", "pattern"}},
};

static const struct kind_of_definition *find_kind(const char *noun)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].noun, noun) == 0)
            return &kinds[i];
    return NULL;
}

/* Check that the body is an object, and the one that the path names. */
static bool is_named(const struct api_call *c, const struct kind_of_definition *kind,
                     struct err *err)
{
    cJSON *body = NULL;
    bool ok = body_parse(&body, c->req, NULL, err), is_it = false;

    for (size_t i = 0; ok && i < ARRAY_LEN(kind->names); i++) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(body, kind->names[i]);

        is_it = is_it ||
                (cJSON_IsString(name) && str_equal(str_from(name->valuestring), c->args[0]));
    }
    cJSON_Delete(body);
    return ok && (is_it || err_set_code(err, ERR_REJECT, "http", 400,
                                        "\"%s\" in the body must be the name in the path, "
                                        "%" STR_FMT,
                                        kind->names[0], STR_ARG(c->args[0])));
}

static bool read_put(struct api_call *c, struct apply_request *r, uint64_t *seen,
                     struct err *err)
{
    const struct request_target *t = &c->req->target;

    return param_bool(t, "dry_run", &r->dry_run, err) &&
           param_bool(t, "new", &r->is_new, err) &&
           param_bool(t, "take_alias", &r->take_alias, err) &&
           revision_terms(&r->terms, seen, c->req, err);
}

/* The text is sent as it came: no number in it is rounded. */
static bool put(struct api_call *c, struct apply_request *r, struct err *err)
{
    const struct kind_of_definition *kind = find_kind(c->noun);
    struct buf name = {0}, text = {0};
    struct apply_file file;
    uint64_t revision = 0;

    if (!is_named(c, kind, err))
        return false;
    buf_printf(&name, "%s %" STR_FMT, kind->noun, STR_ARG(c->args[0]));
    buf_printf(&text, "{\"%s\": [", kind->list);
    buf_append(&text, c->req->body);
    buf_append(&text, STR("]}"));
    file = (struct apply_file){buf_str(&name), buf_str(&text), STR("/")};
    r->files = (struct definition_files){&file, 1, NULL};

    const bool ok = coordinator_apply(c->api->coordinator, r, &revision, &c->res->body, err);

    if (ok)
        revision_tell(c->res, revision);
    buf_free(&name);
    buf_free(&text);
    return ok;
}

void api_put_definition(struct api_call *c)
{
    struct apply_request r = {0};
    uint64_t seen;
    struct err err = {0};

    answer(c, 200, read_put(c, &r, &seen, &err) && put(c, &r, &err), &err);
}

void api_delete(struct api_call *c)
{
    struct change_terms terms;
    uint64_t revision;
    struct err err = {0};

    bool ok = revision_terms(&terms, &revision, c->req, &err);

    terms.dry_run = c->dry_run;
    ok = ok && coordinator_delete(c->api->coordinator, str_from(c->noun), c->args[0], &terms,
                                  &c->res->body, &err);
    answer(c, 200, ok, &err);
}

void api_table_delete(struct api_call *c)
{
    struct str confirm = STR("");
    struct change_terms terms;
    uint64_t revision;
    struct err err = {0};
    cJSON *body = NULL;
    bool ok = revision_terms(&terms, &revision, c->req, &err) &&
              body_parse(&body, c->req, c->op->members, &err) &&
              body_str(body, "confirm", &confirm, &err);

    terms.dry_run = c->dry_run;
    ok = ok && coordinator_delete_table(c->api->coordinator, c->args[0], confirm, &terms,
                                        &c->res->body, &err);
    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_topic_reset(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = body_parse(&body, c->req, c->op->members, &err) &&
                    coordinator_topic_reset(c->api->coordinator, c->args[0], c->dry_run,
                                            &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_topic_resume(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok = body_parse(&body, c->req, c->op->members, &err) &&
                    coordinator_topic_resume(c->api->coordinator, c->args[0], c->dry_run,
                                             &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_explain(struct api_call *c)
{
    struct str key = request_param(&c->req->target, "key");
    struct err err = {0};
    const bool ok = key.len > 0 || err_set_code(&err, ERR_REJECT, "http", 400,
                                                "which row? give the parameter \"key\"");

    answer(c, 200,
           ok && coordinator_explain(c->api->coordinator, c->args[0], key, NULL, &c->res->body,
                                     &err),
           &err);
}

/* The same of definitions that are not stored. */
void api_explain_draft(struct api_call *c)
{
    struct sent_files sent = {0};
    struct str key = STR("");
    struct err err = {0};
    cJSON *body = NULL;
    bool ok = body_parse(&body, c->req, c->op->members, &err) &&
              body_str(body, "key", &key, &err) && read_sent(body, &sent, &err);

    if (ok && key.len == 0)
        ok = err_set_code(&err, ERR_REJECT, "http", 400, "which row? give \"key\"");
    answer(c, 200,
           ok && coordinator_explain(c->api->coordinator, c->args[0], key, &sent.files,
                                     &c->res->body, &err),
           &err);
    free(sent.list);
    cJSON_Delete(body);
}

void api_mapping(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200,
           coordinator_mapping(c->api->coordinator, c->args[0], NULL, &c->res->body, &err),
           &err);
}

void api_mapping_draft(struct api_call *c)
{
    struct sent_files sent = {0};
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok =
        body_parse(&body, c->req, c->op->members, &err) && read_sent(body, &sent, &err) &&
        coordinator_mapping(c->api->coordinator, c->args[0], &sent.files, &c->res->body, &err);

    answer(c, 200, ok, &err);
    free(sent.list);
    cJSON_Delete(body);
}

void api_columns(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200,
           coordinator_generate_columns(c->api->coordinator, c->args[0], &c->res->body, &err),
           &err);
}
