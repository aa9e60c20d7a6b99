/*
 * The columns that the tables of a version had when its documents were made, and what happens
 * when they change.
 */
#ifndef REBALANCE_VERSION_SHAPE_H
#define REBALANCE_VERSION_SHAPE_H

#include "rebalance/state/parts.h"

/* Whether the table's definition follows schema changes; false if the table is not defined. */
bool coordinator_follows(struct coordinator *co, struct str table);
/* Store the present shapes of the version's tables with it. */
bool coordinator_keep_shapes(struct coordinator *co, const struct stored_version *v,
                             const struct definitions *d, const struct table_definition *lead,
                             plan_schema_fn find, list_tables_fn list, void *ctx,
                             struct err *err) MUST_CHECK;
/*
 * As coordinator_version_definitions(), but if schema changes are not followed, only with the
 * columns that the tables had when the version was built.
 */
bool coordinator_version_in_effect(struct coordinator *co, const struct stored_version *v,
                                   struct definitions **d, const struct table_definition **t,
                                   struct err *err) MUST_CHECK;
/*
 * A version_fit_fn; ctx is the coordinator.  Adds new columns to the mapping.  If rows changed,
 * the request for a rebuild is durable on return.
 */
bool coordinator_fit_version(void *ctx, const struct version_spec *spec,
                             const struct tables_now *now, struct err *err) MUST_CHECK;
/*
 * The tables of the version that searches use, as of its last fit; empty if there is no such
 * version.  The caller frees the list, also after a failure.
 */
bool coordinator_available_tables(struct coordinator *co, struct str alias,
                                  struct schema_list *tables, struct err *err) MUST_CHECK;
/* A version_kept_fn; ctx is the coordinator. */
bool coordinator_kept_tables(void *ctx, const struct version_spec *spec,
                             struct schema_list *tables, struct err *err) MUST_CHECK;

#endif
