#include "config.h"

#include "rebalance/access/first_admin.h"

#include "rebalance/access/change.h"
#include "rebalance/access/log_in.h"
#include "rebalance/state/accounts.h"
#include "rebalance/state/parts.h"

#include "src/access/password.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/file/new_files.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct first_admin {
    struct lock lock;

    /* Guarded by lock. */
    char hash[TOKEN_HASH + 1]; /* of the token that counts; empty: none */
};

struct first_admin *first_admin_new(void)
{
    struct first_admin *f = mem_alloc(1, sizeof(*f));

    lock_init(&f->lock, LOCK_private);
    return f;
}

void first_admin_free(struct first_admin *f)
{
    if (f == NULL)
        return;
    lock_fini(&f->lock);
    free(f);
}

/* hash empty: no token counts any more.  Returns whether one did. */
static bool set_hash(struct coordinator *co, const char *hash)
{
    struct first_admin *f = co->first_admin;

    lock_acquire(&f->lock);

    const bool had = f->hash[0] != '\0';

    snprintf(f->hash, sizeof(f->hash), "%s", hash);
    lock_release(&f->lock);
    return had;
}

static bool is_open(struct coordinator *co)
{
    lock_acquire(&co->first_admin->lock);

    const bool is = co->first_admin->hash[0] != '\0';

    lock_release(&co->first_admin->lock);
    return is;
}

/* Takes as long wherever the two differ. */
static bool is_token(struct coordinator *co, struct str token)
{
    char hash[TOKEN_HASH + 1];

    if (!token_hash(hash, token))
        return false;
    lock_acquire(&co->first_admin->lock);

    const bool is = gnutls_memcmp(hash, co->first_admin->hash, TOKEN_HASH) == 0;

    lock_release(&co->first_admin->lock);
    return is;
}

/* As far as this node knows. */
static bool has_anybody(struct coordinator *co)
{
    struct catalogue *c = coordinator_catalogue(co);
    const bool any = accounts_have_any(&c->accounts);

    catalogue_unref(c);
    return any;
}

/* ---- the file ---- */

static void name_file(struct buf *path, const struct coordinator *co)
{
    buf_printf(path, "%s/" FIRST_ADMIN_FILE, co->opt.data_dir);
}

static void delete_file(const struct coordinator *co)
{
    struct buf path = {0};

    name_file(&path, co);
    if (unlink(path.ptr) != 0 && errno != ENOENT)
        log_warn("cannot delete the file of a token that does not count any more",
                 KV("file", path.ptr), KV("why", (const char *)strerror(errno)));
    buf_free(&path);
}

/* A file that is there belongs to an earlier start. */
static bool write_file(const struct coordinator *co, const char *path, const char *token,
                       struct err *err)
{
    char line[TOKEN_TEXT + 2];

    snprintf(line, sizeof(line), "%s\n", token);

    const struct new_file file = {path, str_from(line), 0600};

    delete_file(co);

    const bool ok = new_files_write(&file, 1, err);

    explicit_bzero(line, sizeof(line));
    return ok;
}

/* ---- from the start until somebody is there ---- */

void coordinator_open_first_admin(struct coordinator *co, const char *page)
{
    char token[TOKEN_TEXT + 1], hash[TOKEN_HASH + 1];
    struct buf path = {0};
    struct err err = {0};

    if (page == NULL || has_anybody(co)) {
        delete_file(co);
        return;
    }
    name_file(&path, co);
    token_make(token);
    if (!token_hash(hash, str_from(token))) {
        log_error("no token for the first admin: the library of TLS computes no SHA-256");
    } else if (!write_file(co, path.ptr, token, &err)) {
        log_failure(LOG_WARN, &err,
                    "no token for the first admin; add the admin with `millrace user add NAME "
                    "--role admin`");
    } else {
        set_hash(co, hash);
        log_warn("nobody may use the page yet: open it and add the first admin with this "
                 "token, which counts once, or run `millrace user add NAME --role admin`",
                 KV("page", page), KV("token", (const char *)token), KV("file", path.ptr));
    }
    explicit_bzero(token, sizeof(token));
    buf_free(&path);
}

bool coordinator_awaits_first_admin(struct coordinator *co)
{
    return is_open(co) && !has_anybody(co);
}

void coordinator_end_first_admin(struct coordinator *co, bool always)
{
    if (!is_open(co) || !(always || has_anybody(co)))
        return;
    if (!set_hash(co, ""))
        return; /* another thread was first */
    delete_file(co);
    if (!always)
        log_info("the token for the first admin has ended: somebody may use the port");
}

/* ---- the user ---- */

static bool refuse_late(struct err *err)
{
    return refuse(err, 409,
                  "somebody may use this Millrace already, so there is no first admin to add; "
                  "fix: log in, or ask an admin for a user");
}

/* Under admin_lock.  Other nodes may do the same at this moment: the store decides. */
static bool add(const struct access_change *x, const struct account *u,
                char token[TOKEN_TEXT + 1], struct buf *json, struct err *err)
{
    bool is_first = false;

    if (accounts_have_any(x->all))
        return refuse_late(err);
    return account_store_first(x->co->opt.store, u, &is_first, err) &&
           (is_first || refuse_late(err)) && log_in_make(x, u, token, json, err);
}

static bool add_with_hash(struct coordinator *co, const struct first_admin_order *o,
                          struct str hash, char token[TOKEN_TEXT + 1], struct buf *json,
                          struct err *err)
{
    const int64_t now_ms = access_password_ms(NULL);
    const struct account u = {.name = o->name,
                              .role = ROLE_ADMIN,
                              .password = hash,
                              .added_ms = now_ms,
                              .password_ms = now_ms};
    struct access_change x;

    if (!access_begin(&x, co, err))
        return false;
    return access_end(&x, co, add(&x, &u, token, json, err));
}

static bool refuse_token(const struct first_admin_order *o, struct err *err)
{
    log_warn("somebody gave a wrong token for the first admin",
             KV("address", o->from.len > 0 ? o->from : STR("the unix socket")));
    return refuse(err, 401,
                  "the token is wrong; fix: take the one in the file " FIRST_ADMIN_FILE
                  " of the data folder, or in the log since the latest start");
}

bool coordinator_add_first_admin(struct coordinator *co, const struct first_admin_order *o,
                                 char token[TOKEN_TEXT + 1], struct buf *json, struct err *err)
{
    struct buf hash = {0};
    const bool ok = (coordinator_awaits_first_admin(co) || refuse_late(err)) &&
                    (is_token(co, o->token) || refuse_token(o, err)) &&
                    access_check_name(o->name, err) && password_hash(&hash, o->password, err) &&
                    add_with_hash(co, o, buf_str(&hash), token, json, err);

    if (ok)
        log_info("the first admin is added", KV("user", o->name));
    coordinator_end_first_admin(co, false);
    buf_free(&hash);
    return ok;
}
