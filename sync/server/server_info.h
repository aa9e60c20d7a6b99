/*
 * What a source's server says about itself and its binlog.
 *
 * @thread one at a time per connection; blocks
 */
#ifndef SYNC_SERVER_SERVER_INFO_H
#define SYNC_SERVER_SERVER_INFO_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/position/server_identity.h"

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
    bool gtid;             /* its transactions have GTIDs */
    bool commits_in_order; /* transactions become visible in log order */
    uint64_t retention_s;  /* how long it keeps the log; 0 for ever */
};
bool server_info_load(struct mysql_conn *c, struct server_info *out,
                      struct err *err) MUST_CHECK;

/* Check that the log can be followed.  ERR_REJECT, with the statement that fixes it, if not. */
bool server_info_check(const struct server_info *i, struct err *err) MUST_CHECK;

/* Tell whether the two images of an update together give the full old and new row. */
bool server_info_whole_rows(const struct server_info *i);

/* The present end of the log, and the GTIDs executed up to there. */
struct log_end {
    char file[256];
    uint64_t offset;
    char *gtids; /* caller frees; "" without GTIDs */
};
bool server_log_end(struct mysql_conn *c, struct log_end *out, struct err *err) MUST_CHECK;

/*
 * Get the end likewise for MySQL, whose answer may lack GTIDs of transactions logged but not
 * yet committed: wait for their commit, so that gtids covers everything before the place.
 * ERR_RETRY after timeout_ms; ERR_STOP.
 */
bool server_log_end_committed(struct mysql_conn *c, int64_t timeout_ms, struct stop *stop,
                              struct log_end *out, struct err *err) MUST_CHECK;

/*
 * MySQL: find out whether the server has executed, or is about to commit, all of these GTIDs.
 * Always true for other servers and without GTIDs.
 */
bool server_knows_gtids(struct mysql_conn *c, struct str gtids, bool *known,
                        struct err *err) MUST_CHECK;

/* How much log follows a place, according to the server. */
struct log_backlog {
    uint64_t bytes;                /* from the place to the end of the log */
    bool found;                    /* the file exists and includes the place */
    uint64_t end_file, end_offset; /* where the log ends */
};
bool server_log_backlog(struct mysql_conn *c, struct str file, uint64_t offset,
                        struct log_backlog *out, struct err *err) MUST_CHECK;

#endif
