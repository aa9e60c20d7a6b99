/*
 * Log-ins: tokens of users, which browsers keep in a cookie.
 *
 * @thread any (blocks on the store)
 */
#ifndef REBALANCE_ACCESS_LOG_IN_H
#define REBALANCE_ACCESS_LOG_IN_H

#include "src/access/token.h"
#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct access_change;
struct account;
struct buf;

/*
 * Store a log-in of u as u is to be, and append the answer.  The oldest of very many log-ins
 * makes room.
 */
bool log_in_make(const struct access_change *x, const struct account *u,
                 char token[TOKEN_TEXT + 1], struct buf *json, struct err *err) MUST_CHECK;

#endif
