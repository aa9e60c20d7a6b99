/*
 * struct server_switch: tell whether the server that answers is the one we follow, or another
 * one that may replace it.
 *
 * @thread server_switch_meet: the reader's; server_switch_by: any
 */
#ifndef SYNC_SOURCE_SERVER_SWITCH_H
#define SYNC_SOURCE_SERVER_SWITCH_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/server/server_info.h"

#include <stdbool.h>

struct known_server;
struct mysql_conn;
struct read_position;
struct saver;

struct server_switch { /* zero except for the borrowed members: no switch yet */
    struct known_server *known;
    struct read_position *reader;
    struct saver *saver;
    char identity[IDENTITY_CAP]; /* written before done */
    bool done;                   /* atomic */
};

/*
 * Check what a connect found.  Returns false if it is another server.  ERR_STOP: we can follow
 * it, and progress so far is stored; any other error says why not, see failover_check().
 * Blocks.
 */
bool server_switch_meet(struct server_switch *t, struct mysql_conn *c,
                        const struct server_info *info, struct err *err) MUST_CHECK;

/* The identity of the replacing server; NULL if there is none. */
const char *server_switch_to(const struct server_switch *t);

#endif
