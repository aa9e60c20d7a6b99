#include "config.h"

#include "web/api_audit.h"

#include "rebalance/admin/audit.h"
#include "src/format/json.h"
#include "src/store/audit.h"
#include "web/api.h"
#include "web/body.h"
#include "web/request.h"
#include "web/routes.h"

#include <cJSON.h>
#include <string.h>

#define PAGE_MAX 10000

static bool is_member(const cJSON *body, const char *name, bool value)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(body, name);

    return value ? cJSON_IsTrue(m) : cJSON_IsFalse(m);
}

/* It only looks: a dry run, or a comparison that repairs nothing. */
static bool only_looks(const struct request *req)
{
    struct err ignored;
    cJSON *body = NULL;
    bool is = false;

    if (param_bool(&req->target, "dry_run", &is, &ignored) && is)
        return true;
    if (req->body.len > 0 && body_parse(&body, req, NULL, &ignored))
        is = is_member(body, "dry_run", true) || is_member(body, "repair", false);
    cJSON_Delete(body);
    return is;
}

/* An `apply` of what is stored already, as scripts do each day. */
static bool says_nothing(struct str answer)
{
    const struct str none = STR("\"items\":[],");

    return memmem(answer.ptr, answer.len, none.ptr, none.len) != NULL;
}

static bool has_changed(const struct route *r, const struct api_call *c)
{
    return r->method != METHOD_GET && (r->traits & IS_QUESTION) == 0 && c->res->status < 300 &&
           !c->req->is_wish && !only_looks(c->req) &&
           ((r->traits & ANSWERS_BEFORE) == 0 || !says_nothing(buf_str(&c->res->body)));
}

/* The object that the path names, or the only one that the answer says has changed. */
static void find_object(struct buf *out, const struct api_call *c)
{
    const struct str json = buf_str(&c->res->body);
    struct str more;

    if (c->args[0].len > 0)
        buf_append(out, c->args[0]);
    else if (!json_find(json, "/items/1", &more))
        (void)json_find_text(json, "/items/0/name", out);
}

/* The first admin is added by somebody whom the port does not know yet. */
static void name_who(struct buf *out, const struct request *req)
{
    buf_append(out, req->user);
    if (req->user.len == 0 && req->from.len > 0)
        buf_printf(out, "somebody (%" STR_FMT ")", STR_ARG(req->from));
}

/* A pause has a reason of its own; of dead letters that member says which. */
static void find_reason(struct buf *out, const struct route *r, const struct request *req)
{
    struct err ignored;
    struct str why;

    if (param_reason(&req->target, &why, &ignored) && why.len > 0)
        buf_append(out, why);
    else if (r->concern != CONCERNS_LETTERS)
        (void)json_find_text(req->body, "/reason", out);
}

/* Definition files may hold passwords; the answer has what was before and what is now. */
void audit_note(const struct route *r, const struct api_call *c)
{
    const bool has_before = (r->traits & ANSWERS_BEFORE) != 0;
    struct buf object = {0}, who = {0}, reason = {0};

    if (!has_changed(r, c))
        return;
    name_who(&who, c->req);
    find_object(&object, c);
    find_reason(&reason, r, c->req);
    coordinator_note_audit(
        c->api->coordinator,
        &(struct audit_entry){.who = buf_str(&who),
                              .method = str_from(request_method_name(r->method)),
                              .target = c->req->target.raw,
                              .what = str_from(r->summary),
                              .object = buf_str(&object),
                              .reason = buf_str(&reason),
                              .asked = has_before ? STR("") : c->req->body,
                              .answered = has_before ? buf_str(&c->res->body) : STR("")});
    buf_free(&object);
    buf_free(&reason);
    buf_free(&who);
}

void api_audit(struct api_call *c)
{
    const struct request_target *t = &c->req->target;
    struct audit_filter f = {.object = request_param(t, "object")};
    struct err err = {0};
    uint64_t limit = 0;
    const bool ok =
        param_uint(t, "after", &f.before_id, &err) && param_uint(t, "limit", &limit, &err);

    f.limit = (size_t)(limit < PAGE_MAX ? limit : PAGE_MAX);
    answer(c, 200, ok && coordinator_list_audit(c->api->coordinator, &f, &c->res->body, &err),
           &err);
}
