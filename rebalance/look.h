/*
 * struct look: a look at a table's server outside the stream: one connection and its schemas.
 *
 * @thread one at a time; blocks
 */
#ifndef REBALANCE_LOOK_H
#define REBALANCE_LOOK_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct coordinator;
struct definitions;
struct mysql_conn;
struct schemas;
struct server_access;
struct table_definition;

struct look {
    struct server_access *server;
    struct mysql_conn *conn;
    struct schemas *schemas;
};

bool look_open(struct coordinator *co, const struct definitions *d,
               const struct table_definition *t, struct look *l, struct err *err) MUST_CHECK;
/* Also after a failed look_open(), and of a zeroed one. */
void look_close(struct look *l);

#endif
