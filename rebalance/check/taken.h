/* The check whether the search engine would accept an index, before anybody builds it. */
#ifndef REBALANCE_CHECK_TAKEN_H
#define REBALANCE_CHECK_TAKEN_H

#include "rebalance/state/parts.h"

struct asked;

/*
 * Ask the search engine whether it takes the lead's index, if an engine may refuse one like it
 * (sync/mapping/usual.h), and report why not.  Returns false if nobody can ask.  Blocks, two
 * seconds at most for an engine that does not answer.
 */
bool coordinator_check_taken(struct coordinator *co, const struct definitions *d,
                             const struct table_definition *lead, struct asked *asked,
                             struct problems *problems) MUST_CHECK;

#endif
