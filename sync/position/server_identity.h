/*
 * The identity of a server.  Positions are comparable only while it stays the same.
 *
 * MySQL: the server_uuid.  MariaDB, and MySQL before 5.6: "id N", N being the server_id.
 *
 * @thread one at a time per connection; blocks
 */
#ifndef SYNC_POSITION_SERVER_IDENTITY_H
#define SYNC_POSITION_SERVER_IDENTITY_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mysql_conn;

#define IDENTITY_CAP 96

/* Pass "" as uuid if the server has none. */
void server_identity_format(char out[IDENTITY_CAP], const char *uuid, uint32_t server_id);

/*
 * Check that the connection leads to this server.  ERR_RETRY if it leads to another one, as an
 * address may do for a while.
 */
bool server_identity_is(struct mysql_conn *c, const char *identity, struct err *err) MUST_CHECK;

#endif
