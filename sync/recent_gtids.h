/*
 * struct recent_gtids: which transaction a place of the log is in, of the last ones that were
 * read.
 *
 * Pure.  @thread one at a time
 */
#ifndef SYNC_RECENT_GTIDS_H
#define SYNC_RECENT_GTIDS_H

#include "src/base/base.h"
#include "sync/binlog/gtid.h"

#include <stdint.h>

#define RECENT_GTIDS_MAX 4096

struct recent_gtids;

struct recent_gtids *recent_gtids_new(void) RETURNS_NONNULL MUST_CHECK;
void recent_gtids_free(struct recent_gtids *r); /* NULL is fine */

/*
 * The transaction g (family GTID_NONE: it has no id) begins: the event that says so ends at
 * version.  A stream that starts anew from an earlier place may say the same again.
 */
void recent_gtids_add(struct recent_gtids *r, uint64_t version, const struct gtid *g);
/* Of the last transaction that begins at or before version; borrowed until the next one is added.
 * NULL: it is not known, or has no id. */
const struct gtid *recent_gtids_find(const struct recent_gtids *r, uint64_t version);

#endif
