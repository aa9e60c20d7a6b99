/* What rows of a log mean for an index.  Only the files of rebalance/replay include this. */
#ifndef REBALANCE_REPLAY_ROWS_H
#define REBALANCE_REPLAY_ROWS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct replay;
struct replay_rows;
struct routing;
struct schema;
struct step;

/* routing: of the topic's pipeline here, a reference of the caller's; NULL: none runs here. */
struct replay_rows *replay_rows_new(struct replay *r, struct str topic,
                                    const struct routing *routing) RETURNS_NONNULL MUST_CHECK;
void replay_rows_free(struct replay_rows *rows);
/* A table_map_want_fn; ctx is the rows. */
bool replay_rows_want(void *ctx, struct str database, struct str table, struct schema **schema);
/* Keep the keys of the step's rows; version: of its end.  What cannot be read is noted. */
bool replay_rows_take(struct replay_rows *rows, const struct step *step, uint64_t version,
                      struct err *err) MUST_CHECK;
/* A statement: note what it changes without rows in the log. */
void replay_rows_statement(struct replay_rows *rows, const struct step *step);

#endif
