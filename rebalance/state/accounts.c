#include "config.h"

#include "rebalance/state/accounts.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/store/store.h"

#include <gnutls/gnutls.h>
#include <string.h>

#define USERS  "access/user/"
#define TOKENS "access/token/"

/* ---- reading ---- */

static struct str text_at(struct arena *a, struct str json, const char *pointer)
{
    struct buf text = {0};

    (void)json_find_text(json, pointer, &text);

    const struct str kept = arena_copy(a, buf_str(&text));

    buf_free(&text);
    return kept;
}

static int64_t time_at(struct str json, const char *pointer)
{
    uint64_t ms = 0;

    (void)json_find_u64(json, pointer, &ms);
    return (int64_t)ms;
}

static struct str name_after(struct str name, const char *prefix)
{
    return (struct str){name.ptr + strlen(prefix), name.len - strlen(prefix)};
}

/* A role that a newer program knows is none here. */
static bool read_user(struct arena *a, const struct stored_value *v, struct account *out)
{
    *out = (struct account){.name = name_after(v->name, USERS),
                            .password = text_at(a, v->content, "/password"),
                            .added_ms = time_at(v->content, "/added_ms"),
                            .password_ms = time_at(v->content, "/password_ms"),
                            .stored = v->content};
    (void)json_find_bool(v->content, "/sees_rows", &out->may_see_rows);
    return role_parse(&out->role, text_at(a, v->content, "/role"));
}

static bool read_token(struct arena *a, const struct stored_value *v, struct access_token *out)
{
    *out = (struct access_token){.hash = name_after(v->name, TOKENS),
                                 .name = text_at(a, v->content, "/name"),
                                 .user = text_at(a, v->content, "/user"),
                                 .role = ROLE_PAGE,
                                 .added_ms = time_at(v->content, "/added_ms"),
                                 .ends_ms = time_at(v->content, "/ends_ms"),
                                 .password_ms = time_at(v->content, "/password_ms"),
                                 .stored = v->content};
    (void)json_find_bool(v->content, "/sees_rows", &out->may_see_rows);
    return role_parse(&out->role, text_at(a, v->content, "/role")) || out->name.len == 0;
}

bool accounts_load(struct store *store, struct arena *a, struct accounts *out, struct err *err)
{
    struct stored_value *users = NULL, *tokens = NULL;
    size_t n_users = 0, n_tokens = 0;

    *out = (struct accounts){0};
    if (!store_load_values(store, a, STR(USERS), &users, &n_users, err) ||
        !store_load_values(store, a, STR(TOKENS), &tokens, &n_tokens, err))
        return false;

    struct account *u = arena_alloc(a, n_users + 1, sizeof(*u));
    struct access_token *t = arena_alloc(a, n_tokens + 1, sizeof(*t));

    for (size_t i = 0; i < n_users; i++)
        out->n_users += read_user(a, &users[i], &u[out->n_users]);
    for (size_t i = 0; i < n_tokens; i++)
        out->n_tokens += read_token(a, &tokens[i], &t[out->n_tokens]);
    out->users = u;
    out->tokens = t;
    return true;
}

/* ---- writing ---- */

static bool put(struct store *store, const char *prefix, struct str name, struct buf *value,
                struct err *err)
{
    struct buf key = {0};

    buf_printf(&key, "%s%" STR_FMT, prefix, STR_ARG(name));

    const bool ok = value != NULL ? store_put_value(store, buf_str(&key), buf_str(value), err)
                                  : store_delete_value(store, buf_str(&key), NULL, err);

    buf_free(&key);
    if (value != NULL)
        buf_free(value);
    return ok;
}

static void write_user(struct buf *value, const struct account *u)
{
    struct json_writer w = {.out = value};

    json_open_object(&w);
    json_put_cstr(&w, STR("role"), role_name(u->role));
    json_put_bool(&w, STR("sees_rows"), u->may_see_rows);
    json_put_string(&w, STR("password"), u->password);
    json_put_u64(&w, STR("added_ms"), (uint64_t)u->added_ms);
    json_put_u64(&w, STR("password_ms"), (uint64_t)u->password_ms);
    json_close_object(&w);
}

bool account_store(struct store *store, const struct account *u, struct err *err)
{
    struct buf key = {0}, value = {0};
    bool is_done = false;

    buf_printf(&key, USERS "%" STR_FMT, STR_ARG(u->name));
    write_user(&value, u);

    const bool ok =
        store_exchange_value(store, buf_str(&key), u->stored, buf_str(&value), &is_done, err) &&
        (is_done ||
         err_set_code(err, ERR_REJECT, "http", 409,
                      "somebody else has changed the user %" STR_FMT
                      " at this moment, or a newer Millrace gave it a role that this one "
                      "does not know, so nothing was changed; fix: look at the user "
                      "and try again",
                      STR_ARG(u->name)));

    buf_free(&key);
    buf_free(&value);
    return ok;
}

bool account_store_first(struct store *store, const struct account *u, bool *is_first,
                         struct err *err)
{
    struct buf key = {0}, value = {0};

    buf_printf(&key, USERS "%" STR_FMT, STR_ARG(u->name));
    write_user(&value, u);

    const bool ok =
        store_put_first_value(store, STR(USERS), buf_str(&key), buf_str(&value), is_first, err);

    buf_free(&key);
    buf_free(&value);
    return ok;
}

bool account_delete(struct store *store, struct str name, struct err *err)
{
    return put(store, USERS, name, NULL, err);
}

static void write_token(struct buf *value, const struct access_token *t)
{
    struct json_writer w = {.out = value};

    json_open_object(&w);
    json_put_string(&w, STR("name"), t->name);
    json_put_string(&w, STR("user"), t->user);
    if (t->name.len > 0) {
        json_put_cstr(&w, STR("role"), role_name(t->role));
        json_put_bool(&w, STR("sees_rows"), t->may_see_rows);
    }
    json_put_u64(&w, STR("added_ms"), (uint64_t)t->added_ms);
    json_put_u64(&w, STR("ends_ms"), (uint64_t)t->ends_ms);
    if (t->name.len == 0)
        json_put_u64(&w, STR("password_ms"), (uint64_t)t->password_ms);
    json_close_object(&w);
}

bool access_token_store(struct store *store, const struct access_token *t, struct err *err)
{
    struct buf value = {0};

    write_token(&value, t);
    return put(store, TOKENS, t->hash, &value, err);
}

bool access_token_change(struct store *store, const struct access_token *t, struct err *err)
{
    struct buf key = {0}, value = {0};
    bool is_done = false;

    buf_printf(&key, TOKENS "%" STR_FMT, STR_ARG(t->hash));
    write_token(&value, t);

    const bool ok =
        store_exchange_value(store, buf_str(&key), t->stored, buf_str(&value), &is_done, err) &&
        (is_done ||
         err_set_code(err, ERR_REJECT, "http", 409,
                      "somebody else has changed or removed the token %" STR_FMT
                      " at this moment, so nothing was changed; fix: look at the token and "
                      "try again",
                      STR_ARG(t->name)));

    buf_free(&key);
    buf_free(&value);
    return ok;
}

bool access_token_delete(struct store *store, struct str hash, struct err *err)
{
    return put(store, TOKENS, hash, NULL, err);
}

/* ---- asking ---- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool account_name_is_valid(struct str name)
{
    if (name.len == 0 || name.len > ACCOUNT_NAME_MAX || !is_word(name.ptr[0]))
        return false;
    for (size_t i = 1; i < name.len; i++)
        if (!is_word(name.ptr[i]) && memchr("._-@", name.ptr[i], 4) == NULL)
            return false;
    return true;
}

const struct account *accounts_find(const struct accounts *all, struct str name)
{
    for (size_t i = 0; i < all->n_users; i++)
        if (str_equal(all->users[i].name, name))
            return &all->users[i];
    return NULL;
}

/* How long it takes tells nothing of a hash that is near. */
const struct access_token *accounts_token(const struct accounts *all, struct str hash)
{
    for (size_t i = 0; i < all->n_tokens; i++)
        if (all->tokens[i].hash.len == hash.len &&
            gnutls_memcmp(all->tokens[i].hash.ptr, hash.ptr, hash.len) == 0)
            return &all->tokens[i];
    return NULL;
}

const struct access_token *accounts_token_named(const struct accounts *all, struct str name)
{
    for (size_t i = 0; name.len > 0 && i < all->n_tokens; i++)
        if (str_equal(all->tokens[i].name, name))
            return &all->tokens[i];
    return NULL;
}

enum access_role accounts_role_of(const struct accounts *all, const struct access_token *t,
                                  int64_t now_ms)
{
    const struct account *user = t->name.len > 0 ? NULL : accounts_find(all, t->user);

    if (now_ms >= t->ends_ms)
        return ROLE_PAGE;
    if (t->name.len > 0)
        return t->role;
    return user == NULL || t->password_ms != user->password_ms ? ROLE_PAGE : user->role;
}

bool accounts_have_any(const struct accounts *all)
{
    bool any = all->n_users > 0;

    for (size_t i = 0; i < all->n_tokens && !any; i++)
        any = all->tokens[i].name.len > 0;
    return any;
}

bool account_sees_rows(const struct account *u)
{
    return u->role >= ROLE_OPERATOR || u->may_see_rows;
}

bool access_token_sees_rows(const struct access_token *t)
{
    return t->role >= ROLE_OPERATOR || t->may_see_rows;
}

bool accounts_see_rows(const struct accounts *all, const struct access_token *t)
{
    const struct account *user = t->name.len > 0 ? NULL : accounts_find(all, t->user);

    return user != NULL ? account_sees_rows(user)
                        : t->name.len > 0 && access_token_sees_rows(t);
}
