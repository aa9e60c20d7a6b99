/* The callbacks of delivery.  They run on its thread. */
#ifndef REBALANCE_ADMIN_DELIVERY_H
#define REBALANCE_ADMIN_DELIVERY_H

#include "rebalance/state/parts.h"

struct delivery_options coordinator_delivery_options(struct coordinator *co);

#endif
