/*
 * A store on a server is one daemon's, or that of several that know of each other: whoever
 * connects takes a lock that the server keeps with the connection (GET_LOCK).
 *
 * Alone: the store's lock. The server may keep a connection for hours after its machine or
 * network is gone, so a daemon ends the one that its own data folder had before: beside the
 * store's lock each takes one of its place, and two locks of one connection are one daemon's.
 *
 * Shared: the first free one of some locks that are numbered. Each side takes its lock first
 * and then looks for those of the other, so that never both go on.
 *
 * @thread one at a time; blocks on the server
 */
#ifndef SRC_STORE_MYSQL_ALONE_H
#define SRC_STORE_MYSQL_ALONE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct mysql_conn;

/* ERR_RETRY: another daemon has the store; the message says which connection and the fix.
 * Waits up to 10 s for a command to end. */
bool mysql_alone_take(struct mysql_conn *c, const char *place, struct err *err) MUST_CHECK;
/* Sets *number to that of our lock.  ERR_RETRY: a daemon has the store alone; the message has
 * the fix. */
bool mysql_alone_share(struct mysql_conn *c, unsigned *number, struct err *err) MUST_CHECK;
/*
 * Note in the store who has the lock of that number, how many migrations it knows, and by which
 * connection: what an earlier one left counts no more.  Find those who know fewer migrations
 * than n_known, and append their names.
 */
struct mysql_sharer {
    unsigned number; /* of its lock */
    const char *who;
    size_t n_known;
};
bool mysql_alone_enter(struct mysql_conn *c, const struct mysql_sharer *s,
                       struct err *err) MUST_CHECK;
bool mysql_alone_find_older(struct mysql_conn *c, size_t n_known, struct buf *names,
                            struct err *err) MUST_CHECK;
/* Sets *connection to another one that shares the store; 0: none does. */
bool mysql_alone_find_sharer(struct mysql_conn *c, uint64_t *connection,
                             struct err *err) MUST_CHECK;

#endif
