/*
 * A store on a server is one daemon's: whoever connects takes a lock that the server keeps with
 * the connection (GET_LOCK). The server may keep a connection for hours after its machine or
 * network is gone, so a daemon ends the one that its own data folder had before: beside the
 * store's lock each takes one of its place, and two locks of one connection are one daemon's.
 *
 * @thread one at a time; blocks on the server
 */
#ifndef SRC_STORE_MYSQL_ALONE_H
#define SRC_STORE_MYSQL_ALONE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct mysql_conn;

/* ERR_RETRY: another daemon has the store; the message says which connection and the fix.
 * Waits up to 10 s for a command to end. */
bool mysql_alone_take(struct mysql_conn *c, const char *place, struct err *err) MUST_CHECK;

#endif
