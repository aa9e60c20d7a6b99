/*
 * Decide whether a source can be followed on another server than before.
 *
 * Positions of two servers are not comparable, so GTIDs decide: the other server must have
 * executed everything we read from the old one, and its log must still contain everything after
 * (docs/rules.md, rule 3).
 *
 * @thread one at a time per connection; blocks
 */
#ifndef SYNC_SOURCE_FAILOVER_H
#define SYNC_SOURCE_FAILOVER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct mysql_conn;
struct server_info;

/* What we know of the old server. */
struct failover_from {
    const char *identity;
    struct str read;   /* GTIDs of all that was read, even in part */
    struct str stored; /* GTIDs of all that is done: the dump resumes after them */
    bool anonymous;    /* something read has no GTID */
};

/*
 * Returns false with a reason of transport.h.  BEHIND (ERR_RETRY): the server lacks
 * transactions so far, perhaps for ever.  GTID_PURGED: its log begins too late.  DIVERGED:
 * nothing is comparable, or it certainly lacks transactions.
 */
bool failover_check(struct mysql_conn *c, const struct server_info *info,
                    const struct failover_from *from, struct err *err) MUST_CHECK;

/* ---- what the answers mean; pure ---- */
bool failover_judge_mysql(const struct failover_from *from, const char *to, struct str executed,
                          struct str purged, struct err *err) MUST_CHECK;
/* state is @@gtid_binlog_state; strict is @@gtid_strict_mode. */
bool failover_judge_mariadb(const struct failover_from *from, const char *to, struct str state,
                            bool strict, struct err *err) MUST_CHECK;

#endif
