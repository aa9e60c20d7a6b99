/*
 * What a source's server says of itself and of its binlog.
 *
 * @thread one at a time per connection; blocks
 */
#ifndef SYNC_SERVER_INFO_H
#define SYNC_SERVER_INFO_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/server_identity.h"

#include <stdbool.h>
#include <stdint.h>

struct mysql_conn;
struct stop;

struct server_info {
    bool mariadb;
    unsigned version;
    char version_text[96];
    char identity[IDENTITY_CAP];
    uint32_t server_id;
    bool log_bin;
    char binlog_format[16];
    char row_image[16];
    bool gtid;            /* transactions have GTIDs */
    bool commits_in_order; /* transactions become visible in the log's order */
    uint64_t retention_s; /* how long the log is kept, 0: for ever */
};
bool server_info_load(struct mysql_conn *c, struct server_info *out,
                      struct err *err) MUST_CHECK;

/* ERR_REJECT, with the statement that fixes it, when the log cannot be followed. */
bool server_info_check(const struct server_info *i, struct err *err) MUST_CHECK;

/* Both images of an update together say the whole row, before and after it. */
bool server_info_whole_rows(const struct server_info *i);

/* Where the log ends now, and what is executed up to there. */
struct log_end {
    char file[256];
    uint64_t offset;
    char *gtids; /* free() it; "" without GTIDs */
};
bool server_log_end(struct mysql_conn *c, struct log_end *out, struct err *err) MUST_CHECK;

/*
 * The same of MySQL, whose answer may lack GTIDs of transactions that are in the log and not
 * committed yet: waits until they are, so that gtids has all that stands before the place.
 * ERR_RETRY: not within timeout_ms; ERR_STOP.
 */
bool server_log_end_committed(struct mysql_conn *c, int64_t timeout_ms, struct stop *stop,
                              struct log_end *out, struct err *err) MUST_CHECK;

/*
 * MySQL: whether the server has executed, or is about to commit, all of these GTIDs; for other
 * servers, and without GTIDs, always true.
 */
bool server_knows_gtids(struct mysql_conn *c, struct str gtids, bool *known,
                        struct err *err) MUST_CHECK;

/* Where a place in the log lies as the server sees it. */
struct log_backlog {
    uint64_t bytes; /* of the log from the place on */
    bool found;     /* the file is there, and the place within it */
};
bool server_log_backlog(struct mysql_conn *c, struct str file, uint64_t offset,
                        struct log_backlog *out, struct err *err) MUST_CHECK;

#endif
