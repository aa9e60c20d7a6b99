/*
 * Open reads with a true stamp: what a re-read certainly includes (docs/rules.md, rule 4).
 *
 * The binlog may show a row event before SELECT shows its commit.  So documents get a stamp
 * only from a read opened here first:
 *
 * - the MariaDB server that we stream: wait until binlog_snapshot_*, asked before the
 *   snapshot opens, has reached the needed position;
 * - MySQL with GTIDs: wait for the whole set read so far, on the same connection, then open
 *   a snapshot;
 * - a MariaDB replica: MASTER_GTID_WAIT, then open a snapshot;
 * - never a replica if something that we read has no GTID;
 * - MySQL without GTIDs: a locking read of a row that the last transaction changed (for DDL,
 *   a read of its table); without such a row a settle delay, which the doctor reports.
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
    bool replica;                 /* conn is not the server that we stream */
    bool gtid;                    /* the server has GTIDs */
    /*
     * For a replica: how many of read_position_late() it was given a moment for.  NULL: ignore
     * them, as the builder does.
     */
    uint64_t *late;
    uint64_t at_least; /* the position that the read must include */
    int64_t timeout_ms;
    struct stop *stop;
};

/*
 * Open the read on c.  *stamp is at least at_least, which may exceed a position by up to 18
 * (the gap of docs/rules.md, rule 3); a read at that position is then sufficient.  ERR_RETRY if
 * the position is not visible within the timeout or the connection is lost; ERR_STOP.  End with
 * read_view_close().
 */
bool read_view_open(struct mysql_conn *c, const struct read_view_options *opt, uint64_t *stamp,
                    struct err *err) MUST_CHECK;

/* The smaller of the two positions that sql returns, as rows of file and offset. */
bool read_view_shown(struct mysql_conn *c, struct str sql, uint64_t epoch, uint64_t *version,
                     struct err *err) MUST_CHECK;

enum commit_wait_answer {
    COMMIT_WAIT_COMMITTED, /* the row's change is committed */
    COMMIT_WAIT_LOCKED,    /* something still locks the row */
    COMMIT_WAIT_MUTE,      /* the row cannot be read, see err; ERR_NONE if no row was named */
};
/* Wait a moment with a locking read (sync/read/commit_wait.h). */
enum commit_wait_answer read_view_ask(struct mysql_conn *c, struct str wait_sql,
                                      struct err *err) MUST_CHECK;
/*
 * Tell whether known GTIDs do not prove that all we read is applied: some of it has none,
 * because gtid_mode changed after the connect or was off when it was written, or it came late.
 */
bool read_view_must_settle(bool is_complete, bool is_late);
/* Wait as long as a commit may stay invisible if no server can tell.  Returns false on stop. */
bool read_view_settle(struct stop *stop) MUST_CHECK;

bool read_view_close(struct mysql_conn *c, struct err *err) MUST_CHECK;

#endif
