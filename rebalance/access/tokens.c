#include "config.h"

#include "rebalance/access/tokens.h"

#include "rebalance/access/change.h"
#include "rebalance/state/accounts.h"
#include "rebalance/state/parts.h"

#include "src/base/clock.h"

#include <inttypes.h>

#define DAY_MS INT64_C(86400000)

static void answer_token(struct buf *json, const struct access_token *t, const char *text)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/token-add/1");
    json_put_string(&w, STR("name"), t->name);
    json_put_cstr(&w, STR("role"), role_name(t->role));
    json_put_bool(&w, STR("sees_rows"), access_token_sees_rows(t));
    coordinator_put_time(&w, STR("ends"), t->ends_ms);
    json_put_cstr(&w, STR("token"), text);
    if (text[0] == '\0')
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

static bool check_days(uint64_t days, struct err *err)
{
    return (days > 0 && days <= TOKEN_DAYS_MAX) ||
           refuse(err, 422, "a token ends after 1 to %d days, and %" PRIu64 " is not that",
                  TOKEN_DAYS_MAX, days);
}

static bool check_order(const struct token_order *o, struct access_token *t, struct err *err)
{
    return access_check_name(o->name, err) && access_read_role(&t->role, o->role, err) &&
           check_days(o->days, err);
}

bool coordinator_add_token(struct coordinator *co, const struct token_order *o,
                           struct buf *json, struct err *err)
{
    const int64_t now_ms = clock_wall_ms();
    struct access_token t = {
        .name = o->name, .user = o->by, .added_ms = now_ms, .may_see_rows = o->sees_rows};
    char text[TOKEN_TEXT + 1] = ""; /* of a dry run */
    struct access_change x;

    if (!check_order(o, &t, err) || !access_begin(&x, co, err))
        return false;
    t.ends_ms = now_ms + (int64_t)o->days * DAY_MS;

    const bool ok = (accounts_token_named(x.all, o->name) == NULL ||
                     refuse(err, 409,
                            "there is a token %" STR_FMT "; fix: choose another name, or "
                            "millrace token delete %" STR_FMT,
                            STR_ARG(o->name), STR_ARG(o->name))) &&
                    (o->dry_run || access_make_token(co, &t, text, err));

    if (ok)
        answer_token(json, &t, text);
    return access_end(&x, co, ok);
}

static bool has_no_token(struct str name, struct err *err)
{
    return refuse(err, 404, "there is no token %" STR_FMT "; fix: see millrace token list",
                  STR_ARG(name));
}

static void answer_token_set(struct buf *json, const struct access_token *t,
                             const struct access_token *before, bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/token-set/1");
    json_put_string(&w, STR("name"), t->name);
    json_put_cstr(&w, STR("role"), role_name(t->role));
    json_put_cstr(&w, STR("previous_role"), role_name(before->role));
    json_put_bool(&w, STR("sees_rows"), access_token_sees_rows(t));
    json_put_bool(&w, STR("previous_sees_rows"), access_token_sees_rows(before));
    coordinator_put_time(&w, STR("ends"), t->ends_ms);
    coordinator_put_time(&w, STR("previous_ends"), before->ends_ms);
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

/* Refuse what makes no sense whatever token there is. */
static bool check_token_change(const struct token_change *c, enum access_role *role,
                               struct err *err)
{
    if (c->role.len == 0 && !c->sets_days && !c->sets_rows)
        return refuse(err, 422,
                      "nothing is to change; fix: give the role, the days, or whether it "
                      "sees rows");
    return (c->role.len == 0 || access_read_role(role, c->role, err)) &&
           (!c->sets_days || check_days(c->days, err));
}

static struct access_token changed_token(const struct access_token *before,
                                         const struct token_change *c, enum access_role role)
{
    struct access_token t = *before;

    if (c->role.len > 0)
        t.role = role;
    if (c->sets_rows)
        t.may_see_rows = c->sees_rows;
    if (c->sets_days)
        t.ends_ms = clock_wall_ms() + (int64_t)c->days * DAY_MS;
    return t;
}

bool coordinator_set_token(struct coordinator *co, const struct token_change *change,
                           struct buf *json, struct err *err)
{
    enum access_role role = ROLE_PAGE;
    struct access_change x;

    if (!check_token_change(change, &role, err) || !access_begin(&x, co, err))
        return false;

    const struct access_token *before = accounts_token_named(x.all, change->name);
    bool ok = before != NULL || has_no_token(change->name, err);

    if (ok) {
        const struct access_token t = changed_token(before, change, role);

        ok = change->dry_run || access_token_change(co->opt.store, &t, err);
        if (ok)
            answer_token_set(json, &t, before, change->dry_run);
    }
    return access_end(&x, co, ok);
}

bool coordinator_delete_token(struct coordinator *co, struct str name, bool dry_run,
                              struct buf *json, struct err *err)
{
    struct access_change x;

    if (!access_begin(&x, co, err))
        return false;

    const struct access_token *t = accounts_token_named(x.all, name);
    const bool ok = (t != NULL || has_no_token(name, err)) &&
                    (dry_run || access_token_delete(co->opt.store, t->hash, err));

    if (ok)
        access_answer_deleted(json, "token", name, dry_run);
    return access_end(&x, co, ok);
}
