#include "config.h"

#include "rebalance/access/log_in.h"

#include "rebalance/access/access.h"
#include "rebalance/access/change.h"
#include "rebalance/state/accounts.h"
#include "rebalance/state/parts.h"

#include "src/access/password.h"
#include "src/base/clock.h"
#include "src/base/log.h"

#define LOG_INS_MAX 20 /* of one user; the oldest makes room */

/* Delete log-ins that have ended, and of `user` the oldest beyond LOG_INS_MAX - 1. */
static bool make_room(const struct access_change *x, struct str user, int64_t now_ms,
                      struct err *err)
{
    const struct access_token *oldest = NULL;
    size_t n = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < x->all->n_tokens; i++) {
        const struct access_token *t = &x->all->tokens[i];

        if (t->name.len > 0)
            continue;
        if (t->ends_ms <= now_ms) {
            ok = access_token_delete(x->co->opt.store, t->hash, err);
        } else if (str_equal(t->user, user)) {
            n++;
            oldest = oldest == NULL || t->added_ms < oldest->added_ms ? t : oldest;
        }
    }
    return ok && (n < LOG_INS_MAX || access_token_delete(x->co->opt.store, oldest->hash, err));
}

/* u NULL: no user has the name, which stays out of the log: it may be a mistyped password. */
static void warn_of_failure(const struct account *u, struct str from)
{
    const struct str address = from.len > 0 ? from : STR("the unix socket");

    if (u != NULL)
        log_warn("somebody gave a wrong password", KV("user", u->name), KV("address", address));
    else
        log_warn("somebody gave a name that no user has, and a password",
                 KV("address", address));
}

/*
 * Compare with what this node knows, without a lock: that takes a while.  Append the hash that
 * the password fits.
 */
static bool knows(struct coordinator *co, const struct log_in_order *o, struct buf *hash)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct account *u = accounts_find(&c->accounts, o->name);
    const bool is = password_matches(u == NULL ? STR("") : u->password, o->password);

    if (is)
        buf_append(hash, u->password);
    else
        warn_of_failure(u, o->from);
    catalogue_unref(c);
    return is;
}

static bool refuse_log_in(struct err *err)
{
    return refuse(err, 401, "the name or the password is wrong");
}

bool log_in_make(const struct access_change *x, const struct account *u,
                 char token[TOKEN_TEXT + 1], struct buf *json, struct err *err)
{
    const int64_t now_ms = clock_wall_ms();
    const struct access_token t = {.user = u->name,
                                   .added_ms = now_ms,
                                   .ends_ms = now_ms + (int64_t)LOG_IN_S * 1000,
                                   .password_ms = u->password_ms};
    struct json_writer w = {.out = json};

    if (!make_room(x, u->name, now_ms, err) || !access_make_token(x->co, &t, token, err))
        return false;
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/login/1");
    json_put_string(&w, STR("user"), u->name);
    json_put_cstr(&w, STR("role"), role_name(u->role));
    coordinator_put_time(&w, STR("ends"), t.ends_ms);
    json_close_object(&w);
    return true;
}

/* hash: what the password fits; the user may have another one by now. */
static bool add_log_in(const struct access_change *x, struct str name, struct str hash,
                       char token[TOKEN_TEXT + 1], struct buf *json, struct err *err)
{
    const struct account *u = accounts_find(x->all, name);

    if (u == NULL || !str_equal(u->password, hash))
        return refuse_log_in(err);
    return log_in_make(x, u, token, json, err);
}

static bool log_in(struct coordinator *co, struct str name, struct str hash,
                   char token[TOKEN_TEXT + 1], struct buf *json, struct err *err)
{
    struct access_change x;

    if (!access_begin(&x, co, err))
        return false;
    return access_end(&x, co, add_log_in(&x, name, hash, token, json, err));
}

bool coordinator_log_in(struct coordinator *co, const struct log_in_order *o,
                        char token[TOKEN_TEXT + 1], struct buf *json, struct err *err)
{
    struct buf hash = {0};
    const bool is_right = knows(co, o, &hash);
    const bool ok =
        is_right ? log_in(co, o->name, buf_str(&hash), token, json, err) : refuse_log_in(err);

    if (ok)
        log_info("a user has logged in", KV("user", o->name));
    buf_free(&hash);
    return ok;
}

bool coordinator_log_out(struct coordinator *co, struct str token, struct err *err)
{
    char hash[TOKEN_HASH + 1];
    struct access_change x;

    if (!token_hash(hash, token))
        return true;
    if (!access_begin(&x, co, err))
        return false;

    const struct access_token *t = accounts_token(x.all, str_from(hash));
    const bool ok =
        t == NULL || t->name.len > 0 || access_token_delete(co->opt.store, t->hash, err);

    return access_end(&x, co, ok);
}

/* ---- another password ---- */

static bool refuse_old(struct err *err)
{
    return refuse(err, 403, "the old password is wrong, and nothing was changed");
}

/* They do not count any more.  Those that cannot be deleted now go when they have ended. */
static void delete_others(const struct access_change *x, const struct account *u)
{
    struct err ignored = {0};

    for (size_t i = 0; i < x->all->n_tokens; i++)
        if (x->all->tokens[i].name.len == 0 && str_equal(x->all->tokens[i].user, u->name) &&
            !access_token_delete(x->co->opt.store, x->all->tokens[i].hash, &ignored))
            return;
}

/* The log-in comes first: it does not count before the user has the password that it names. */
static bool store_password(struct coordinator *co, const struct password_change *p,
                           struct str old_hash, struct str hash, char token[TOKEN_TEXT + 1],
                           struct buf *json, struct err *err)
{
    struct access_change x;

    if (!access_begin(&x, co, err))
        return false;

    const struct account *before = accounts_find(x.all, p->name);
    bool ok = (before != NULL && str_equal(before->password, old_hash)) || refuse_old(err);

    if (ok) {
        struct account u = *before;

        u.password = hash;
        u.password_ms = access_password_ms(before);
        ok = log_in_make(&x, &u, token, json, err) && account_store(co->opt.store, &u, err);
        if (ok)
            delete_others(&x, &u);
    }
    return access_end(&x, co, ok);
}

bool coordinator_change_password(struct coordinator *co, const struct password_change *p,
                                 char token[TOKEN_TEXT + 1], struct buf *json, struct err *err)
{
    struct buf old_hash = {0}, hash = {0};
    const struct log_in_order old = {.name = p->name, .password = p->old, .from = p->from};
    const bool ok =
        (knows(co, &old, &old_hash) || refuse_old(err)) &&
        (!str_equal(p->old, p->wanted) ||
         refuse(err, 422, "the new password is the old one; fix: choose another one")) &&
        password_hash(&hash, p->wanted, err) &&
        store_password(co, p, buf_str(&old_hash), buf_str(&hash), token, json, err);

    if (ok)
        log_info("a user has another password", KV("user", p->name));
    buf_free(&old_hash);
    buf_free(&hash);
    return ok;
}
