#include "config.h"

#include "rebalance/access/access.h"

#include "rebalance/access/change.h"
#include "rebalance/state/accounts.h"
#include "rebalance/state/parts.h"

#include "src/access/password.h"
#include "src/base/clock.h"
#include "src/base/log.h"

/* ---- who asks ---- */

static struct str name_who(struct arena *a, const struct access_token *t)
{
    struct buf who = {0};

    buf_printf(&who, t->name.len > 0 ? "token %" STR_FMT : "user %" STR_FMT,
               STR_ARG(t->name.len > 0 ? t->name : t->user));

    const struct str kept = arena_copy(a, buf_str(&who));

    buf_free(&who);
    return kept;
}

bool coordinator_recognise(struct coordinator *co, struct str token, struct arena *a,
                           struct recognised *out)
{
    char hash[TOKEN_HASH + 1];

    if (!token_hash(hash, token))
        return false;

    struct catalogue *c = coordinator_catalogue(co);
    const struct access_token *t = accounts_token(&c->accounts, str_from(hash));

    *out = (struct recognised){
        .role = t == NULL ? ROLE_PAGE : accounts_role_of(&c->accounts, t, clock_wall_ms())};
    if (out->role > ROLE_PAGE) {
        out->who = name_who(a, t);
        out->user = t->name.len > 0 ? STR("") : arena_copy(a, t->user);
        out->sees_rows = accounts_see_rows(&c->accounts, t);
    }
    catalogue_unref(c);
    return out->role > ROLE_PAGE;
}

static bool has_admin(const struct accounts *all, int64_t now_ms)
{
    bool has = false;

    for (size_t i = 0; i < all->n_users; i++)
        has = has || all->users[i].role == ROLE_ADMIN;
    for (size_t i = 0; i < all->n_tokens; i++)
        has = has || accounts_role_of(all, &all->tokens[i], now_ms) == ROLE_ADMIN;
    return has;
}

bool coordinator_has_admin(struct coordinator *co)
{
    struct catalogue *c = coordinator_catalogue(co);
    const bool has = has_admin(&c->accounts, clock_wall_ms());

    catalogue_unref(c);
    return has;
}

/* ---- users ---- */

static void answer_user(struct buf *json, const struct account *u, const struct account *before,
                        const struct user_change *change)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/user-set/1");
    json_put_string(&w, STR("name"), u->name);
    json_put_string(&w, STR("role"), str_from(role_name(u->role)));
    if (before != NULL)
        json_put_cstr(&w, STR("previous_role"), role_name(before->role));
    else
        json_put_null(&w, STR("previous_role"));
    json_put_bool(&w, STR("sees_rows"), account_sees_rows(u));
    if (before != NULL)
        json_put_bool(&w, STR("previous_sees_rows"), account_sees_rows(before));
    else
        json_put_null(&w, STR("previous_sees_rows"));
    json_put_bool(&w, STR("new_password"), change->password.len > 0);
    if (change->dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

/* Take what the change does not name from before. */
static bool merge(struct account *u, const struct user_change *change,
                  const struct account *before, struct str hash, struct err *err)
{
    const int64_t now_ms = clock_wall_ms();

    if (change->is_new && before != NULL)
        return refuse(err, 409, "there is a user %" STR_FMT "; fix: millrace user set",
                      STR_ARG(change->name));
    if (!change->is_new && before == NULL)
        return refuse(err, 404, "there is no user %" STR_FMT "; fix: millrace user add",
                      STR_ARG(change->name));
    *u = before != NULL ? *before : (struct account){.name = change->name, .added_ms = now_ms};
    if (hash.len > 0) {
        u->password = hash;
        u->password_ms = access_password_ms(before);
    }
    if (change->sets_rows)
        u->may_see_rows = change->sees_rows;
    return change->role.len == 0 || access_read_role(&u->role, change->role, err);
}

/* Refuse what makes no sense whoever is there. */
static bool check_change(const struct user_change *change, struct err *err)
{
    enum access_role ignored;

    if (!access_check_name(change->name, err))
        return false;
    if (change->is_new && (change->role.len == 0 || change->password.len == 0))
        return refuse(err, 422, "a new user needs a role and a password");
    return change->role.len == 0 || access_read_role(&ignored, change->role, err);
}

static bool put_user(struct coordinator *co, const struct user_change *change, struct str hash,
                     struct buf *json, struct err *err)
{
    struct access_change x;
    struct account u;

    if (!access_begin(&x, co, err))
        return false;

    const struct account *before = accounts_find(x.all, change->name);
    const bool ok = merge(&u, change, before, hash, err) &&
                    (change->dry_run || account_store(co->opt.store, &u, err));

    if (ok)
        answer_user(json, &u, before, change);
    return access_end(&x, co, ok);
}

bool coordinator_put_user(struct coordinator *co, const struct user_change *change,
                          struct buf *json, struct err *err)
{
    struct buf hash = {0};
    const bool ok =
        check_change(change, err) &&
        (change->password.len == 0 || password_hash(&hash, change->password, err)) &&
        put_user(co, change, buf_str(&hash), json, err);

    buf_free(&hash);
    return ok;
}

bool coordinator_delete_user(struct coordinator *co, struct str name, bool dry_run,
                             struct buf *json, struct err *err)
{
    struct access_change x;

    if (!access_begin(&x, co, err))
        return false;

    bool ok = accounts_find(x.all, name) != NULL ||
              refuse(err, 404, "there is no user %" STR_FMT "; fix: see millrace user list",
                     STR_ARG(name));

    /* Its log-ins go too, or they would be those of a later user of this name. */
    for (size_t i = 0; ok && !dry_run && i < x.all->n_tokens; i++)
        if (x.all->tokens[i].name.len == 0 && str_equal(x.all->tokens[i].user, name))
            ok = access_token_delete(co->opt.store, x.all->tokens[i].hash, err);
    ok = ok && (dry_run || account_delete(co->opt.store, name, err));
    if (ok)
        access_answer_deleted(json, "user", name, dry_run);
    return access_end(&x, co, ok);
}
