/*
 * What nearly every file of rebalance/ uses, in one include: the parts of the coordinator and
 * what stands below them. No file outside rebalance/ and the tests includes this.
 */
#ifndef REBALANCE_STATE_PARTS_H
#define REBALANCE_STATE_PARTS_H

#include "rebalance/build/index_build.h"
#include "rebalance/cluster/cluster.h"
#include "rebalance/state/catalogue.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/state/definition.h"
#include "rebalance/state/errands.h"
#include "rebalance/state/holds.h"
#include "rebalance/state/identity.h"
#include "rebalance/state/members.h"
#include "rebalance/state/names.h"
#include "rebalance/state/queue_watch.h"
#include "rebalance/state/state.h"
#include "rebalance/state/stored_view.h"
#include "rebalance/state/topics.h"
#include "rebalance/watch/engine_watch.h"
#include "rebalance/watch/errand.h"
#include "rebalance/watch/store_watch.h"
#include "rebalance/watch/whose.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/lock.h"
#include "src/base/thread.h"
#include "src/format/json.h"
#include "src/format/problem.h"
#include "src/search/search.h"
#include "src/store/retired.h"
#include "src/store/store.h"
#include "src/store/waiting.h"
#include "sync/definition/definition.h"
#include "sync/definition/members.h"
#include "sync/document/plan.h"
#include "sync/pipeline/pipeline.h"

#endif
