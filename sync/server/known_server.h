/*
 * struct known_server: the server behind a source's address, as last met.  Positions are
 * comparable only while it stays the same.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_SERVER_KNOWN_SERVER_H
#define SYNC_SERVER_KNOWN_SERVER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/server/server_info.h"

#include <stdbool.h>
#include <stddef.h>

struct known_server;
struct mysql_conn;
struct mysql_options;

/* identity is that of the checkpoint's server, "" if there is none yet. */
struct known_server *known_server_new(const char *identity) RETURNS_NONNULL MUST_CHECK;
void known_server_free(struct known_server *k); /* NULL is allowed */

/* Record what a connect found.  Returns false and keeps nothing if it is another server. */
bool known_server_meet(struct known_server *k, const struct server_info *info) MUST_CHECK;

/* Open a connection to it; ERR_RETRY if the address now leads to another server.  Blocks. */
bool known_server_open(struct known_server *k, const struct mysql_options *at,
                       struct mysql_conn **out, struct err *err) MUST_CHECK;

/* Returns false if never met. */
bool known_server_identity(struct known_server *k, char *out, size_t cap);
/* Tell whether its transactions have GTIDs. */
bool known_server_has_gtid(struct known_server *k);
/*
 * Tell whether a reader must wait for commits by locking reads: the server has no GTIDs to wait
 * for, but commits in log order.
 */
bool known_server_needs_commit_waits(struct known_server *k);

#endif
