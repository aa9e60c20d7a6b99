/*
 * Users and tokens: who may ask the daemon over its port.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; coordinator_recognise() and coordinator_has_admin() do not block)
 */
#ifndef REBALANCE_ACCESS_ACCESS_H
#define REBALANCE_ACCESS_ACCESS_H

#include "src/access/role.h"
#include "src/access/token.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct coordinator;

/* Who shows a token. */
struct recognised {
    enum access_role role;
    bool sees_rows;  /* the role or somebody allows it */
    struct str who;  /* "user anna", "token ci"; in the caller's arena */
    struct str user; /* "anna", by a log-in; empty: by a script's token; the same */
};

/*
 * By what this node knows: never blocks.  A token of another node is known here up to some
 * seconds later.  False: nobody shows this token, or it has ended.
 */
bool coordinator_recognise(struct coordinator *co, struct str token, struct arena *a,
                           struct recognised *out) MUST_CHECK;

/*
 * Whether this node knows somebody who has the role admin at the port: a user, or a script's
 * token that has not ended.  Never blocks.
 */
bool coordinator_has_admin(struct coordinator *co) MUST_CHECK;

struct user_change {
    struct str name;
    struct str role, password; /* empty: as they are */
    bool is_new;               /* 409 if there is one; needs both */
    bool sets_rows, sees_rows; /* whether it sees rows as a viewer; false: as before */
    bool dry_run;              /* check and answer only */
};
/* Needs about 50 ms of processor time for a password. */
bool coordinator_put_user(struct coordinator *co, const struct user_change *u, struct buf *json,
                          struct err *err) MUST_CHECK;
/* Its log-ins end.  Of this and of a token, dry_run: check and answer only. */
bool coordinator_delete_user(struct coordinator *co, struct str name, bool dry_run,
                             struct buf *json, struct err *err) MUST_CHECK;

#define LOG_IN_S (12 * 3600) /* how long a log-in lasts */

struct log_in_order {
    struct str name, password;
    struct str from; /* the caller's address, for the log; empty: the unix socket */
};
/* 401: no such user, or another password; the message does not tell which. */
bool coordinator_log_in(struct coordinator *co, const struct log_in_order *o,
                        char token[TOKEN_TEXT + 1], struct buf *json,
                        struct err *err) MUST_CHECK;
/* End the log-in of this token.  One that is none has ended already. */
bool coordinator_log_out(struct coordinator *co, struct str token, struct err *err) MUST_CHECK;

struct password_change {
    struct str name; /* who has logged in */
    struct str old, wanted;
    struct str from; /* as of a log-in */
};
/*
 * Give a user another password, and end all log-ins but the one that this makes, as if the user
 * had logged in.  403: the old password is wrong.
 */
bool coordinator_change_password(struct coordinator *co, const struct password_change *p,
                                 char token[TOKEN_TEXT + 1], struct buf *json,
                                 struct err *err) MUST_CHECK;

#endif
