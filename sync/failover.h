/*
 * Whether a source can be followed on, on another server than the one before.
 *
 * Positions of two servers cannot be compared, so it is done by GTIDs: when the other server has
 * executed all that was read of the one before, and its log still has all that comes then
 * (design part 7, rule 3).
 *
 * @thread one at a time per connection; blocks
 */
#ifndef SYNC_FAILOVER_H
#define SYNC_FAILOVER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct mysql_conn;
struct server_info;

/* What is known of the server before. */
struct failover_from {
    const char *identity;
    struct str read;   /* GTIDs of all that was read, also in part */
    struct str stored; /* of what is done: the dump goes on after them */
    bool anonymous;    /* something that was read has no GTID */
};

/*
 * False, with a reason of transport.h: BEHIND (ERR_RETRY) where transactions are not there yet,
 * which may be because they never will be; GTID_PURGED where its log begins too late; DIVERGED
 * where nothing can be compared, or where it is sure that it lacks transactions.
 */
bool failover_check(struct mysql_conn *c, const struct server_info *info,
                    const struct failover_from *from, struct err *err) MUST_CHECK;

/* ---- what the answers mean; pure ---- */
bool failover_judge_mysql(const struct failover_from *from, const char *to,
                          struct str executed, struct str purged, struct err *err) MUST_CHECK;
/* state: @@gtid_binlog_state; strict: @@gtid_strict_mode. */
bool failover_judge_mariadb(const struct failover_from *from, const char *to, struct str state,
                            bool strict, struct err *err) MUST_CHECK;

#endif
