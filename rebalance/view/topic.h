/* Judgements of a topic that status and metrics share. */
#ifndef REBALANCE_VIEW_TOPIC_H
#define REBALANCE_VIEW_TOPIC_H

#include "rebalance/state/parts.h"

#include <stdbool.h>
#include <stdint.h>

struct coordinator_view;
struct topic_view;

/*
 * Since when the topic's server has neither failed nor answered, in wall time; 0: it does, or
 * not for long.  Of a log at rest nobody asks, so that says nothing.
 */
int64_t coordinator_silent_since_ms(const struct pipeline_status *s, int64_t now_ms);
/* Whether the lag exceeds half of the server's log retention. */
bool coordinator_lag_threatens(const struct pipeline_status *s, int64_t now_ms);
/* Whether topics that are followed can deliver: once the view knows of the engine. */
void coordinator_look_at_waits(struct coordinator_view *v);
/* Add the warnings of a topic that runs, whose status the view has. */
void coordinator_warn_of_topic(struct coordinator_view *v, struct topic_view *t);

#endif
