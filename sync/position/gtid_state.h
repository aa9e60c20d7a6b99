/*
 * Parse @@gtid_binlog_state of MariaDB: the last number of each server in each domain
 * ("0-1-100,0-2-105").  Pure.
 *
 * Within a domain, numbers rise across servers only if gtid_strict_mode is on.  Numbers of
 * different domains are unrelated.
 */
#ifndef SYNC_POSITION_GTID_STATE_H
#define SYNC_POSITION_GTID_STATE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct gtid_set;

/*
 * Append the ids of `of` that the server lacks to missing.  Sets *passed if, in the domain of a
 * missing id, another server has already written a higher number.
 */
bool gtid_state_missing(struct str state, const struct gtid_set *of, struct buf *missing,
                        bool *passed, struct err *err) MUST_CHECK;

#endif
