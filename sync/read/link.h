/*
 * struct read_link: one thread's connection for reads that build documents.
 *
 * It uses the database's own server, a replica, while that keeps up with what we read from the
 * log.  While the replica lags or is away, it uses the server that we follow.  Either way each
 * read includes its stamp (sync/read/view.h).
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
struct mysql_group;
struct stall_watchdog;
struct read_position;
struct server_access;
struct stop;

struct read_link_options { /* all borrowed */
    const char *topic;
    struct server_access *primary; /* the server that we follow */
    struct known_server *known;
    struct read_position *reader;
    struct stop *stop;
    int64_t timeout_ms;              /* how long to wait until what we read is visible there */
    struct stall_watchdog *watchdog; /* of the thread; NULL: wait a minute for each answer */
    struct mysql_group *group;       /* ends the reads of the thread; NULL if none */
    uint64_t *statements;            /* atomic: counts all statements run; may be NULL */
};

/* Zero except for opt: nothing is open. */
struct read_link {
    struct read_link_options opt;
    struct mysql_conn *conn; /* of the open read */
    struct server_access *server;
    bool replica; /* the connection is not to the server that we follow */
    struct server_access
        *away; /* a replica that did not keep up; avoided until away_until_ms */
    int64_t away_until_ms;
    uint64_t late; /* how many of read_position_late() the replica was waited for */
    bool told;
};

/*
 * Open a read that includes at_least, preferably on server; *stamp as in read_view_open().  End
 * it with read_view_close() on l->conn.
 */
bool read_link_open(struct read_link *l, struct server_access *server, uint64_t at_least,
                    uint64_t *stamp, struct err *err) MUST_CHECK;

/* Drop an unusable connection: the next read opens another one. */
void read_link_close(struct read_link *l);
void read_link_fini(struct read_link *l);

#endif
