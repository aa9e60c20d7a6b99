/*
 * struct takeover: whether the server that answers is the one that is followed, and which other
 * one takes its place.
 *
 * @thread takeover_meet: the reader's; takeover_by: any
 */
#ifndef SYNC_TAKEOVER_H
#define SYNC_TAKEOVER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/server_info.h"

#include <stdbool.h>

struct known_server;
struct mysql_conn;
struct read_position;
struct saver;

struct takeover { /* zero but for the borrowed ones: nobody has taken over */
    struct known_server *known;
    struct read_position *reader;
    struct saver *saver;
    char identity[IDENTITY_CAP]; /* written before done */
    bool done;                   /* atomic */
};

/*
 * What a connect found.  False: it is another server.  ERR_STOP: which can be followed on, and
 * what is done is stored; else why not, as of failover_check().  Blocks.
 */
bool takeover_meet(struct takeover *t, struct mysql_conn *c, const struct server_info *info,
                   struct err *err) MUST_CHECK;

/* The identity of the server that has taken over, NULL: none. */
const char *takeover_by(const struct takeover *t);

#endif
