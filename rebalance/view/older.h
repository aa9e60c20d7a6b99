/* What status shows of the older versions that are kept current. */
#ifndef REBALANCE_VIEW_OLDER_H
#define REBALANCE_VIEW_OLDER_H

#include "rebalance/state/parts.h"

/* Append "kept": the older versions of the index that searches can return to, and their cost.
 */
void coordinator_append_kept(struct coordinator *co, struct json_writer *w,
                             const struct catalogue *c, struct str alias);

#endif
