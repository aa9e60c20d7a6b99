#include "config.h"

#include "rebalance/access/change.h"

#include "rebalance/state/accounts.h"
#include "rebalance/state/parts.h"

#include "src/base/clock.h"
#include "src/base/log.h"

bool access_begin(struct access_change *x, struct coordinator *co, struct err *err)
{
    *x = (struct access_change){.co = co};
    if (!coordinator_begin(co, err))
        return false;
    if (!coordinator_refresh(co, err)) {
        lock_release(&co->admin_lock);
        return false;
    }
    x->c = coordinator_catalogue(co);
    x->all = &x->c->accounts;
    return true;
}

bool access_end(struct access_change *x, struct coordinator *co, bool ok)
{
    struct err later = {0};

    if (ok && !coordinator_refresh(co, &later))
        log_failure(LOG_WARN, &later, "a change of users is known to this node later");
    catalogue_unref(x->c);
    lock_release(&co->admin_lock);
    return ok;
}

bool access_check_name(struct str name, struct err *err)
{
    return account_name_is_valid(name) ||
           refuse(err, 422,
                  "\"%" STR_FMT "\" is no name; fix: use up to %d letters, digits, and . _ "
                  "- @ after the first",
                  STR_ARG(name), ACCOUNT_NAME_MAX);
}

/* Log-ins that name the moment of another password do not count, whatever the clock does. */
int64_t access_password_ms(const struct account *before)
{
    const int64_t now_ms = clock_wall_ms();

    return before != NULL && now_ms <= before->password_ms ? before->password_ms + 1 : now_ms;
}

bool access_make_token(struct coordinator *co, const struct access_token *t,
                       char text[TOKEN_TEXT + 1], struct err *err)
{
    struct access_token whole = *t;
    char hash[TOKEN_HASH + 1];

    token_make(text);
    if (!token_hash(hash, str_from(text)))
        return err_set(err, ERR_FATAL, "the library of TLS computes no SHA-256");
    whole.hash = str_from(hash);
    return access_token_store(co->opt.store, &whole, err);
}

bool access_read_role(enum access_role *out, struct str name, struct err *err)
{
    return role_parse(out, name) ||
           refuse(err, 400, "there is no role %" STR_FMT "; fix: viewer, operator or admin",
                  STR_ARG(name));
}

void access_answer_deleted(struct buf *json, const char *kind, struct str name, bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/delete/1");
    json_put_cstr(&w, STR("kind"), kind);
    json_put_string(&w, STR("name"), name);
    json_put_raw(&w, STR("retired"), STR("[]"));
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}
