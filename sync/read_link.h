/*
 * struct read_link: one thread's connection for reads that documents are made of.
 *
 * It goes to the server that the database has of its own, a replica, as long as that keeps up
 * with what was read of the log; while it lags, or is away, to the server that is followed.
 * Either way a read is known to include its stamp (sync/read_view.h).
 *
 * @thread one at a time; blocks
 */
#ifndef SYNC_READ_LINK_H
#define SYNC_READ_LINK_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct known_server;
struct mysql_conn;
struct patience;
struct read_position;
struct server_access;
struct stop;

struct read_link_options { /* all borrowed */
    const char *topic;
    struct server_access *primary; /* the server that is followed */
    struct known_server *known;
    struct read_position *reader;
    struct stop *stop;
    int64_t timeout_ms; /* for what was read to be visible there */
    struct patience *patience; /* of the thread; NULL: it waits a minute for each answer */
    uint64_t *statements; /* atomic: all that are run are counted there; NULL: nobody does */
};

/* Zero but for opt: nothing is open. */
struct read_link {
    struct read_link_options opt;
    struct mysql_conn *conn; /* of the open read */
    struct server_access *server;
    bool replica;               /* the connection is not to the server that is followed */
    struct server_access *away; /* a replica that did not keep up, until then */
    int64_t away_until_ms;
    uint64_t late; /* of read_position_late(): so many were waited for on the replica */
    bool told;
};

/*
 * Open a read of at_least, preferably on server; *stamp as of read_view_open().  End it with
 * read_view_close() on l->conn.
 */
bool read_link_open(struct read_link *l, struct server_access *server, uint64_t at_least,
                    uint64_t *stamp, struct err *err) MUST_CHECK;

/* The connection is of no use any more: the next read opens another. */
void read_link_close(struct read_link *l);
void read_link_fini(struct read_link *l);

#endif
