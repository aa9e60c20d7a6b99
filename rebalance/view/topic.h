/* Judgements of a topic that status and metrics share. */
#ifndef REBALANCE_VIEW_TOPIC_H
#define REBALANCE_VIEW_TOPIC_H

#include "rebalance/state/parts.h"

/* Whether the lag exceeds half of the server's log retention. */
bool coordinator_lag_threatens(const struct pipeline_status *s);

#endif
