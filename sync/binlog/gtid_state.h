/*
 * What a MariaDB server has in its log, by @@gtid_binlog_state: the last number of each server
 * in each domain ("0-1-100,0-2-105").
 *
 * Numbers of one domain go up over all servers only where gtid_strict_mode keeps them so;
 * numbers of two domains have nothing to do with each other.  Pure.
 */
#ifndef SYNC_BINLOG_GTID_STATE_H
#define SYNC_BINLOG_GTID_STATE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct gtid_set;

/*
 * Those of `of` that the server has not are appended to missing.  *passed: in the domain of one
 * of them it has a higher number, of another server.
 */
bool gtid_state_missing(struct str state, const struct gtid_set *of, struct buf *missing,
                        bool *passed, struct err *err) MUST_CHECK;

#endif
