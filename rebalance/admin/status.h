/* `millrace status`: the call is in rebalance/admin/questions.h. */
#ifndef REBALANCE_ADMIN_STATUS_H
#define REBALANCE_ADMIN_STATUS_H

#include "rebalance/state/parts.h"

/* A person looks at the status: soon refresh what the engine and the store said. */
void coordinator_want(struct coordinator *co);

#endif
