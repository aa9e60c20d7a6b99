/*
 * Names of indexes and aliases, and the table that a name means.
 *
 * @thread any
 */
#ifndef REBALANCE_STATE_NAMES_H
#define REBALANCE_STATE_NAMES_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct definitions;
struct table_definition;

/* "orders", 2 -> "orders_v2" and "orders_v2_write" */
void coordinator_index_name(struct buf *b, struct str alias, uint64_t number);
void coordinator_write_alias(struct buf *b, struct str alias, uint64_t number);
/* "orders_v2" -> "orders", 2. alias borrows from index. */
bool coordinator_split_index_name(const char *index, struct str *alias,
                                  uint64_t *number) MUST_CHECK;
/*
 * Find the table that a command's argument names: DATABASE.TABLE, a pattern, or an index alias,
 * whose lead it returns. Returns NULL and a 404 if there is none.
 */
const struct table_definition *coordinator_find_table(const struct definitions *d,
                                                      struct str name,
                                                      struct err *err) MUST_CHECK;

#endif
