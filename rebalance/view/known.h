#ifndef REBALANCE_VIEW_KNOWN_H
#define REBALANCE_VIEW_KNOWN_H

#include "rebalance/state/parts.h"

struct doctor_list;

/* Add checks for what status says of topics and tables.  Does not block. */
void coordinator_check_known(struct coordinator *co, struct doctor_list *l);

#endif
