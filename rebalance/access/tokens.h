/*
 * Tokens of scripts: made, changed, removed.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks on the store)
 */
#ifndef REBALANCE_ACCESS_TOKENS_H
#define REBALANCE_ACCESS_TOKENS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct coordinator;

#define TOKEN_DAYS_MAX 3650

struct token_order {
    struct str name, role;
    struct str by;  /* who makes it */
    uint64_t days;  /* until it ends: 1 to TOKEN_DAYS_MAX */
    bool sees_rows; /* also as a viewer's */
    bool dry_run;   /* check and answer only: the answer has no token */
};
/* The answer has the token, which nobody can get again. */
bool coordinator_add_token(struct coordinator *co, const struct token_order *t,
                           struct buf *json, struct err *err) MUST_CHECK;

struct token_change {
    struct str name;
    struct str role;           /* empty: as it is */
    bool sets_days;            /* false: it ends as before */
    uint64_t days;             /* until it ends, from now */
    bool sets_rows, sees_rows; /* whether it sees rows as a viewer's; false: as before */
    bool dry_run;              /* check and answer only */
};
/* The token stays the same text.  422: nothing is to change. */
bool coordinator_set_token(struct coordinator *co, const struct token_change *t,
                           struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_delete_token(struct coordinator *co, struct str name, bool dry_run,
                              struct buf *json, struct err *err) MUST_CHECK;

#endif
