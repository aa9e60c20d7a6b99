/*
 * The account that the server logged us in as, in the form that a GRANT takes.
 *
 * @thread the connection's; blocks
 */
#ifndef SRC_MYSQL_ACCOUNT_H
#define SRC_MYSQL_ACCOUNT_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct buf;
struct mysql_conn;

/* Append 'mill'@'127.0.0.1'. */
bool mysql_account_append(struct mysql_conn *c, struct buf *out, struct err *err) MUST_CHECK;
/* Append it, or "the topic's user" if c is NULL or the server does not say. */
void mysql_account_append_known(struct mysql_conn *c, struct buf *out);

#endif
