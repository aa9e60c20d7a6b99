#include "config.h"

#include "rebalance/access/list.h"

#include "rebalance/state/accounts.h"
#include "rebalance/state/state.h"
#include "src/format/json.h"

static bool is_wanted(struct str wanted, struct str name)
{
    return wanted.len == 0 || str_equal(wanted, name);
}

static size_t count_log_ins(const struct accounts *all, const struct account *u, int64_t now_ms)
{
    size_t n = 0;

    for (size_t i = 0; i < all->n_tokens; i++)
        n += all->tokens[i].name.len == 0 && str_equal(all->tokens[i].user, u->name) &&
             accounts_role_of(all, &all->tokens[i], now_ms) > ROLE_PAGE;
    return n;
}

void access_list_users(const struct accounts *all, struct str name, int64_t now_ms,
                       struct json_writer *w, size_t *n_listed)
{
    for (size_t i = 0; i < all->n_users; i++) {
        const struct account *u = &all->users[i];

        if (!is_wanted(name, u->name))
            continue;
        json_open_object(w);
        json_put_string(w, STR("name"), u->name);
        json_put_cstr(w, STR("role"), role_name(u->role));
        json_put_bool(w, STR("sees_rows"), account_sees_rows(u));
        coordinator_put_time(w, STR("added"), u->added_ms);
        coordinator_put_time(w, STR("password_set"), u->password_ms);
        json_put_u64(w, STR("log_ins"), count_log_ins(all, u, now_ms));
        json_close_object(w);
        ++*n_listed;
    }
}

void access_list_tokens(const struct accounts *all, struct str name, int64_t now_ms,
                        struct json_writer *w, size_t *n_listed)
{
    for (size_t i = 0; i < all->n_tokens; i++) {
        const struct access_token *t = &all->tokens[i];

        if (t->name.len == 0 || !is_wanted(name, t->name))
            continue;
        json_open_object(w);
        json_put_string(w, STR("name"), t->name);
        json_put_cstr(w, STR("role"), role_name(t->role));
        json_put_bool(w, STR("sees_rows"), access_token_sees_rows(t));
        json_put_cstr(w, STR("state"), now_ms < t->ends_ms ? "valid" : "ended");
        coordinator_put_time(w, STR("added"), t->added_ms);
        json_put_string(w, STR("added_by"), t->user);
        coordinator_put_time(w, STR("ends"), t->ends_ms);
        json_close_object(w);
        ++*n_listed;
    }
}
