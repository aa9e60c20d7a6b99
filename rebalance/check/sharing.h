/* Checks of a table, or of the tables that share an index, against the server. */
#ifndef REBALANCE_CHECK_SHARING_H
#define REBALANCE_CHECK_SHARING_H

#include "rebalance/state/parts.h"

struct asked;
struct asking;
struct check_live;

/* Check the table, or each table that its pattern matches, against the server.  Blocks. */
void coordinator_check_tables(struct check_live *live, struct asked *asked,
                              const struct definitions *d, const struct table_definition *t,
                              struct problems *problems);
/*
 * Check the tables that share the lead's index: documents can be made of each, and their fields
 * are compatible.  Blocks.
 */
void coordinator_check_sharing(struct coordinator *co, const struct definitions *d,
                               const struct table_definition *lead, struct asked *asked,
                               struct problems *problems);

#endif
