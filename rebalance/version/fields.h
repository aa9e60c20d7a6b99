/*
 * Changes of a definition that only add to the mapping: the index that searches use gets them
 * in place.  Documents do not change, so a new field is filled when its document is next
 * written.  `apply` asks for a build, which fills it in all documents.
 */
#ifndef REBALANCE_VERSION_FIELDS_H
#define REBALANCE_VERSION_FIELDS_H

#include "rebalance/state/parts.h"

/*
 * If the definition in `now` differs from the version's, in `then`, only by additions to the
 * mapping, add them to the index.  ERR_RETRY: try later.  What the engine refuses takes effect
 * with the next build.
 */
bool coordinator_bring_fields(struct coordinator *co, const struct stored_version *v,
                              const struct definitions *then, const struct definitions *now,
                              const struct table_definition *t, struct err *err) MUST_CHECK;

#endif
