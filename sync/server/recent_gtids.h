/*
 * struct recent_gtids: find the transaction of a place in the log, among the last ones read.
 *
 * Pure.  @thread one at a time
 */
#ifndef SYNC_SERVER_RECENT_GTIDS_H
#define SYNC_SERVER_RECENT_GTIDS_H

#include "src/base/base.h"
#include "sync/position/gtid.h"

#include <stdint.h>

#define RECENT_GTIDS_MAX 4096

struct recent_gtids;

struct recent_gtids *recent_gtids_new(void) RETURNS_NONNULL MUST_CHECK;
void recent_gtids_free(struct recent_gtids *r); /* NULL is allowed */

/*
 * Record that transaction g (family GTID_NONE if it has no id) begins with the event that ends
 * at version.  A stream restarted at an earlier place may repeat this.
 */
void recent_gtids_add(struct recent_gtids *r, uint64_t version, const struct gtid *g);
/*
 * Find the last transaction that begins at or before version; borrowed until the next add.
 * Returns NULL if it is unknown or has no id.
 */
const struct gtid *recent_gtids_find(const struct recent_gtids *r, uint64_t version);

#endif
