/*
 * What a build reads with: its connection to the server whose log we read, and its version's
 * targets.  Only the files of rebalance/build include this.
 *
 * @thread the build's own
 */
#ifndef REBALANCE_BUILD_READS_H
#define REBALANCE_BUILD_READS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct index_build;
struct target;

bool build_connect(struct index_build *b, struct err *err) MUST_CHECK;
void build_disconnect(struct index_build *b);
/*
 * Returns a new reference to the version's target of a table (empty: any). If NULL, the kind of
 * err says whether to retry.
 */
struct target *build_target(struct index_build *b, struct str table,
                            struct err *err) MUST_CHECK;
/*
 * Returns the targets of all its tables, like pipeline_targets(). If *n is 0, the kind of err
 * says whether to retry.
 */
struct target **build_targets(struct index_build *b, size_t *n,
                              struct err *err) RETURNS_NONNULL MUST_CHECK;
void build_targets_free(struct target **list, size_t n);
/* Count the rows of all its tables that become documents, as the open read shows them. */
bool build_count_tables(struct index_build *b, uint64_t *rows, struct err *err) MUST_CHECK;
/*
 * Open a snapshot on the build's connection. End it with read_view_close() (sync/read/view.h).
 */
bool build_open_read(struct index_build *b, uint64_t at_least, struct err *err);

#endif
