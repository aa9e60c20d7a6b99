/*
 * What a version keeps of the definitions, and the definitions that it was built with.
 *
 * @thread any
 */
#ifndef REBALANCE_STATE_DEFINITION_H
#define REBALANCE_STATE_DEFINITION_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/store.h"
#include "src/store/waiting.h"
#include "sync/definition/members.h"
#include "sync/document/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct coordinator;
struct definitions;
struct stored_definition;
struct stored_version;
struct stored_wait;
struct table_definition;
struct target;

struct definitions *coordinator_parse_stored(const struct stored_definition *stored, size_t n,
                                             struct err *err) MUST_CHECK;
/* Get the definitions with which the version was built. */
bool coordinator_version_definitions(struct coordinator *co, const struct stored_version *v,
                                     struct definitions **out,
                                     const struct table_definition **lead,
                                     struct err *err) MUST_CHECK;
/* Whether the version was built from this table (among others) or this pattern. */
bool coordinator_version_is_of(const struct stored_version *v, struct str table);
/*
 * Append what a version of the lead's index keeps: the canonical JSON of its table, or a list
 * of all tables joined in it. `instead`, if not NULL, replaces the table of its name.
 */
void coordinator_append_version_json(const struct definitions *d,
                                     const struct table_definition *lead,
                                     const struct table_definition *instead, struct buf *json);
/* Returns the current definitions with the tables of such a JSON text instead of their own. */
struct definitions *coordinator_with_tables(const struct definitions *now, struct str json,
                                            const struct table_definition **lead,
                                            struct err *err) MUST_CHECK;
/*
 * Like coordinator_append_version_json(), but name every column, so that later columns of the
 * database stay out.
 */
bool coordinator_expand_tables(const struct definitions *d, const struct table_definition *lead,
                               plan_schema_fn find, list_tables_fn list, void *ctx,
                               struct buf *json, struct err *err) MUST_CHECK;
/* Append the commands that end the wait. */
void coordinator_append_wait_fix(struct buf *b, const struct stored_wait *w, struct str table);
/* The top relation of a part as the definitions are now, in the arena; false: none any more. */
struct fill_part;
struct top_relation;
bool coordinator_find_top(struct coordinator *co, const struct fill_part *part, struct arena *a,
                          struct top_relation *out) MUST_CHECK;
/* Append the name of the target's lead table: what belongs to the index is stored under it. */
void coordinator_lead_name(struct coordinator *co, const struct target *target,
                           struct buf *name);

#endif
