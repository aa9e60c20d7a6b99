/* What status shows of the search engine. */
#ifndef REBALANCE_ADMIN_SEARCH_H
#define REBALANCE_ADMIN_SEARCH_H

#include "rebalance/state/parts.h"

/*
 * Append "search": the engine's identity, its health at the last answer, and which of its
 * addresses are up.
 */
void coordinator_append_search(struct coordinator *co, const struct engine_heard *heard,
                               struct json_writer *w);

#endif
