/* Which snapshots of delayed tables a request's body names. */
#ifndef WEB_DELAYED_ORDER_H
#define WEB_DELAYED_ORDER_H

#include "rebalance/delayed/orders.h"
#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct cJSON;

/* Borrows from the body and from room. */
bool delayed_order_read(const struct cJSON *body, uint64_t room[DELAYED_IDS_MAX],
                        struct delayed_order *o, struct err *err) MUST_CHECK;

#endif
