/*
 * A change of users or tokens, made from what the store has now.
 *
 * @thread any (each call blocks on the store, but access_check_name())
 */
#ifndef REBALANCE_ACCESS_CHANGE_H
#define REBALANCE_ACCESS_CHANGE_H

#include "rebalance/state/members.h"
#include "src/access/role.h"
#include "src/access/token.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/lock.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct access_token;
struct buf;
struct account;
struct accounts;
struct catalogue;

/* The accounts as they are stored, under admin_lock; valid until access_end(). */
struct access_change {
    struct coordinator *co;
    struct catalogue *c;
    const struct accounts *all;
};

/* Begin with what is stored now. */
bool access_begin(struct access_change *x, struct coordinator *co, struct err *err)
    TAKES_IF(true, co->admin_lock) MUST_CHECK;
/*
 * Whoever asks after this knows of the change.  If the store does not answer any more, the
 * change is made all the same, and this node loads it later.  Returns ok.
 */
bool access_end(struct access_change *x, struct coordinator *co, bool ok)
    GIVES_BACK(co->admin_lock) MUST_CHECK;

/* 422: it is no name of a user or token. */
bool access_check_name(struct str name, struct err *err) MUST_CHECK;
/* 400: there is no such role. */
bool access_read_role(enum access_role *out, struct str name, struct err *err) MUST_CHECK;
/* kind: "user" or "token". */
void access_answer_deleted(struct buf *json, const char *kind, struct str name, bool dry_run);
/* When a user gets a password: now, but never the moment of the one before, or of NULL: none.
 */
int64_t access_password_ms(const struct account *before);
/* Make a token and store it with what t says, but for its hash. */
bool access_make_token(struct coordinator *co, const struct access_token *t,
                       char text[TOKEN_TEXT + 1], struct err *err) MUST_CHECK;

#endif
