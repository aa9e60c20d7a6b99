/*
 * A read whose stamp is true: what a re-read is known to include (design part 7, rule 4).
 *
 * A row event can be read from the binlog before its commit is visible to SELECT.  So a read is
 * opened here first, and only its stamp is given to documents:
 * - the MariaDB server that is streamed: a wait until binlog_snapshot_*, asked before the
 *   snapshot is opened, is at or beyond what is needed;
 * - MySQL with GTIDs: a wait for the whole set read so far, on the same connection, then a
 *   snapshot;
 * - a MariaDB replica: MASTER_GTID_WAIT, then a snapshot;
 * - no replica where something that was read has no GTID;
 * - MySQL without GTIDs: a locking read of a row that the last transaction has changed (of DDL:
 *   a read of its table), and where there is none a settle delay; the doctor says so.
 *
 * @thread one at a time per connection; blocks up to the timeout
 */
#ifndef SYNC_READ_VIEW_H
#define SYNC_READ_VIEW_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct mysql_conn;
struct read_position;
struct stop;

struct read_view_options {
    struct read_position *reader; /* what the stream reader has read */
    bool replica;                 /* conn is not the server that is streamed */
    bool gtid;                    /* the server has GTIDs */
    /* A replica: how many of read_position_late() were waited for a moment more; NULL: none
     * matter, as the builder did. */
    uint64_t *late;
    uint64_t at_least;            /* the read must include this position */
    int64_t timeout_ms;
    struct stop *stop;
};

/*
 * Open the read on c; *stamp is at least at_least, which may lie up to 18 above a position (the
 * gap of design part 7, rule 3): then a read at that position will do.  ERR_RETRY: not visible
 * within the timeout, or the connection is lost; ERR_STOP.  End it with read_view_close().
 */
bool read_view_open(struct mysql_conn *c, const struct read_view_options *opt, uint64_t *stamp,
                    struct err *err) MUST_CHECK;

enum witness_answer {
    WITNESS_COMMITTED, /* what changed the row is */
    WITNESS_LOCKED,    /* something still holds the row */
    WITNESS_MUTE,      /* it cannot be read, and err says why; ERR_NONE: nobody was named */
};
/* Wait a moment by a locking read (sync/witness.h). */
enum witness_answer read_view_ask(struct mysql_conn *c, struct str witness,
                                  struct err *err) MUST_CHECK;
/* How long a commit may stay unseen where nothing can be asked.  False: it is to stop. */
bool read_view_settle(struct stop *stop) MUST_CHECK;

bool read_view_close(struct mysql_conn *c, struct err *err) MUST_CHECK;

#endif
