/*
 * The users, and the tokens that stand for a caller.  The store keeps each as a small value:
 * "access/user/NAME" and "access/token/HASH".  A log-in is a token of its user.
 *
 * @thread any; load, store and delete block on the store
 */
#ifndef REBALANCE_STATE_ACCOUNTS_H
#define REBALANCE_STATE_ACCOUNTS_H

#include "src/access/role.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

#define ACCOUNT_NAME_MAX 64 /* bytes of a user's or token's name */

struct account {
    struct str name;
    enum access_role role;
    bool may_see_rows;             /* also as a viewer */
    struct str password;           /* its hash */
    int64_t added_ms, password_ms; /* wall time; of the password: when it was set */
    struct str stored;             /* as the store has it; ptr NULL: it has none */
};

struct access_token {
    struct str hash;       /* token_hash() */
    struct str name;       /* of a script's; empty: a log-in */
    struct str user;       /* who has logged in, or who made it */
    enum access_role role; /* of a script's */
    bool may_see_rows;     /* of a script's: also as a viewer's */
    int64_t added_ms, ends_ms;
    int64_t password_ms; /* of a log-in: that of its user then */
    struct str stored;   /* as the store has it */
};

struct accounts {
    const struct account *users;
    size_t n_users;
    const struct access_token *tokens;
    size_t n_tokens;
};

bool accounts_load(struct store *store, struct arena *a, struct accounts *out,
                   struct err *err) MUST_CHECK;
/* In place of u->stored.  409 if somebody has changed the user since then. */
bool account_store(struct store *store, const struct account *u, struct err *err) MUST_CHECK;
/*
 * The same, unless there is a user already: of several at the same moment, from whatever nodes,
 * one is stored.
 */
bool account_store_first(struct store *store, const struct account *u, bool *is_first,
                         struct err *err) MUST_CHECK;
bool account_delete(struct store *store, struct str name, struct err *err) MUST_CHECK;
bool access_token_store(struct store *store, const struct access_token *t,
                        struct err *err) MUST_CHECK;
/* In place of t->stored.  409 if somebody has changed or removed it since then. */
bool access_token_change(struct store *store, const struct access_token *t,
                         struct err *err) MUST_CHECK;
bool access_token_delete(struct store *store, struct str hash, struct err *err) MUST_CHECK;

/* Letters, digits, and . _ - @ inside: what a log line and a path show as it is. */
bool account_name_is_valid(struct str name) MUST_CHECK;

/* NULL: there is none. */
const struct account *accounts_find(const struct accounts *all, struct str name);
const struct access_token *accounts_token(const struct accounts *all, struct str hash);
const struct access_token *accounts_token_named(const struct accounts *all, struct str name);

/* Whether there is any: a user, or a token of a script. */
bool accounts_have_any(const struct accounts *all) MUST_CHECK;
/* Operators and admins see rows, and viewers who may. */
bool account_sees_rows(const struct account *u) MUST_CHECK;
bool access_token_sees_rows(const struct access_token *t) MUST_CHECK; /* a script's */
/* The same of whoever shows t. */
bool accounts_see_rows(const struct accounts *all, const struct access_token *t) MUST_CHECK;

/*
 * What the token's owner may do.  ROLE_PAGE: nothing more; it has ended, or its user is gone or
 * has a new password.
 */
enum access_role accounts_role_of(const struct accounts *all, const struct access_token *t,
                                  int64_t now_ms) MUST_CHECK;

#endif
