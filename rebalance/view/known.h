#ifndef REBALANCE_VIEW_KNOWN_H
#define REBALANCE_VIEW_KNOWN_H

#include "rebalance/state/parts.h"

struct coordinator_view;
struct doctor_list;
struct topic_view;

/* Add checks for what status says of a topic of this node and its tables. */
void coordinator_check_topic(const struct coordinator_view *v, const struct topic_view *t,
                             struct doctor_list *l);
/* Add checks for what status says of topics and tables: with these the doctor begins. */
void coordinator_check_known(const struct coordinator_view *v, struct doctor_list *l);

/* Warn of receivers of alarms that take none. */
void coordinator_check_alarms(const struct coordinator *co, struct doctor_list *l);

/*
 * Judge all that status shows: the same, and the search engine and the store as of their last
 * answer.  Returns false if one of these two has never answered; then only a failed check is
 * certain.
 */
bool coordinator_judge(const struct coordinator *co, const struct coordinator_view *v,
                       struct doctor_list *l);

#endif
