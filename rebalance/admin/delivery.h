/* The callbacks of delivery.  They run on its thread. */
#ifndef REBALANCE_ADMIN_DELIVERY_H
#define REBALANCE_ADMIN_DELIVERY_H

#include "rebalance/state/node.h"

struct delivery_options node_delivery_options(struct coordinator *co);

#endif
