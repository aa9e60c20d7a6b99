/*
 * The targets of a version that is being built, for whoever reads its rows.
 *
 * @thread any
 */
#ifndef REBALANCE_FILL_TARGETS_H
#define REBALANCE_FILL_TARGETS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

struct err;
struct pipeline;
struct target;

/*
 * Returns a new reference to the version's target of a table (empty: any). If NULL, the kind of
 * err says whether to retry: ERR_RETRY until the builder has taken the version, as after a
 * start or while the server is away.
 */
struct target *version_target(struct pipeline *p, const char *index, struct str table,
                              struct err *err) MUST_CHECK;
/*
 * Returns the targets of all its tables, like pipeline_targets(). If *n is 0, the kind of err
 * says whether to retry.
 */
struct target **version_targets(struct pipeline *p, const char *index, size_t *n,
                                struct err *err) RETURNS_NONNULL MUST_CHECK;
void version_targets_free(struct target **list, size_t n);

#endif
