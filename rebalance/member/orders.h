/*
 * What this node is to work on, as the barrier said last. Each thing has one order at most.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_MEMBER_ORDERS_H
#define REBALANCE_MEMBER_ORDERS_H

#include "rebalance/cluster/cluster_ops.h"
#include "src/base/base.h"

struct orders;

struct orders *orders_new(void) RETURNS_NONNULL MUST_CHECK;
void orders_free(struct orders *o);

void orders_put(struct orders *o, struct str thing, enum cluster_wish wish);
enum cluster_wish orders_wish(struct orders *o, struct str thing);
/* Copies all to the arena. */
size_t orders_all(struct orders *o, struct arena *a, struct cluster_order **out);
/* Forgets an order to give the thing back or to end. Returns false if there is none. */
bool orders_end(struct orders *o, struct str thing);
/* Forgets an order to work on the thing. Returns false if there is none. */
bool orders_refuse(struct orders *o, struct str thing);

#endif
