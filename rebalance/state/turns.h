/*
 * Builds and delayed runs take turns at an index: while one of them writes its documents, the
 * other one does not begin.  Both write very many, and a build makes most of a run needless.
 *
 * Nobody waits here.  Whoever comes second is refused with HTTP status 423, and comes again:
 * a command some times (src/cli/session.h), Millrace itself for as long as it takes.
 *
 * @thread any
 */
#ifndef REBALANCE_STATE_TURNS_H
#define REBALANCE_STATE_TURNS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct catalogue;
struct coordinator;
struct definitions;
struct snapshot_run;

#define TURN_TAKEN 423 /* HTTP status */

/*
 * Refuse while a delayed run writes documents of the index.  An index that is stopped or held
 * may be built all the same: the run waits for it, and often only a build helps.  So may any
 * while the run waits for builds that it has asked for (rebalance/delayed/builds.h).  Blocks on
 * the store.
 */
bool coordinator_may_build(struct coordinator *co, const struct catalogue *c,
                           const struct definitions *d, struct str index,
                           struct err *err) MUST_CHECK;
/*
 * Refuse while an index is built whose documents a run of run->table (empty: of all that waits
 * of run->topic) would write; but not where the topic has a run, which its beginning refuses
 * (store_begin_snapshot_run()).  Blocks on the store.
 */
bool coordinator_may_run_delayed(struct coordinator *co, const struct snapshot_run *run,
                                 struct err *err) MUST_CHECK;
/*
 * The same while a run goes on that had builds in its way, which it had asked for itself: it
 * looks at what it took.
 */
bool coordinator_may_go_on_delayed(struct coordinator *co, const struct snapshot_run *run,
                                   struct err *err) MUST_CHECK;
/* Append for which build runs of the table wait; nothing: for none. */
void turns_append_build(const struct catalogue *c, const struct definitions *d,
                        struct str table, struct buf *out);

#endif
