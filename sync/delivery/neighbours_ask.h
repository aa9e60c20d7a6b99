/*
 * Asks the engine whether indexes that are not ours take documents, for jobs that would have it
 * for themselves (sync/delivery/index/neighbours.h).
 *
 * It asks the nodes, and not the indexes: of those, an engine with users counts only what ours
 * may see.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_NEIGHBOURS_ASK_H
#define SYNC_DELIVERY_NEIGHBOURS_ASK_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct index_queues;
struct sender;

/* Ask if that is due, and tell the guests whether they are alone. Call in each turn. */
void neighbours_turn(struct sender *s);

/*
 * Sum the documents that indexes have taken and deleted since they were made, but ours, and but
 * the engine's own (".tasks"). Returns false if the answer is not one of every node.
 */
bool neighbours_read(struct str answer, struct index_queues *ours, uint64_t *total);

#endif
