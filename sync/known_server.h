/*
 * struct known_server: the server behind a source's address, as it was last met.
 *
 * Positions can be compared only while it is the same one.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_KNOWN_SERVER_H
#define SYNC_KNOWN_SERVER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/server_info.h"

#include <stdbool.h>
#include <stddef.h>

struct known_server;
struct mysql_conn;
struct mysql_options;

/* identity: of the server that the checkpoint is from, "" none yet. */
struct known_server *known_server_new(const char *identity) RETURNS_NONNULL MUST_CHECK;
void known_server_free(struct known_server *k); /* NULL is fine */

/* What a connect found.  False: it is another server, of which nothing is kept. */
bool known_server_meet(struct known_server *k, const struct server_info *info) MUST_CHECK;

/* A connection to it; ERR_RETRY where the address leads to another server by now.  Blocks. */
bool known_server_open(struct known_server *k, const struct mysql_options *at,
                       struct mysql_conn **out, struct err *err) MUST_CHECK;

/* False: never met. */
bool known_server_identity(struct known_server *k, char *out, size_t cap);
/* Its transactions have GTIDs. */
bool known_server_has_gtid(struct known_server *k);
/* It has none to wait for, but commits in the order of its log. */
bool known_server_needs_witnesses(struct known_server *k);

#endif
