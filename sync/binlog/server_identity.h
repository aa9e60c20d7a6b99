/*
 * Who a server is: positions can be compared only while it is the same one.
 *
 * MySQL: its server_uuid.  MariaDB, and MySQL before 5.6, have none: "id N" of their server_id.
 *
 * @thread one at a time per connection; blocks
 */
#ifndef SYNC_BINLOG_SERVER_IDENTITY_H
#define SYNC_BINLOG_SERVER_IDENTITY_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mysql_conn;

#define IDENTITY_CAP 96

/* uuid "": there is none. */
void server_identity_format(char out[IDENTITY_CAP], const char *uuid, uint32_t server_id);

/* ERR_RETRY when the connection leads to another server, as an address may for a while. */
bool server_identity_is(struct mysql_conn *c, const char *identity, struct err *err) MUST_CHECK;

#endif
