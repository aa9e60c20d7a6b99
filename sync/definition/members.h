/*
 * The tables that share an index: parents and children of a join field, or all tables that
 * match a pattern.
 *
 * One definition, the lead, represents the index: the root of a join, the pattern, or the only
 * table.  All that belongs to an index (versions, stops, builds, settings) is kept under the
 * name of its lead.
 *
 * @thread any (pure except for list)
 */
#ifndef SYNC_DEFINITION_MEMBERS_H
#define SYNC_DEFINITION_MEMBERS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/definition/definition.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* The lead of t's index; may be t itself. */
const struct table_definition *
definition_lead(const struct definitions *d, const struct table_definition *t) RETURNS_NONNULL;
/*
 * The member of t's index whose `settings` apply.  If several members have settings, they
 * agree.
 */
const struct table_definition *
definition_settings(const struct definitions *d,
                    const struct table_definition *t) RETURNS_NONNULL;
/* The lead of an alias; NULL if no table has it. */
const struct table_definition *definition_lead_of(const struct definitions *d,
                                                  struct str index);

/*
 * Count the levels from t up to the root of its join: 0 for the root, SIZE_MAX for a cycle or a
 * missing parent.
 */
size_t definition_join_level(const struct definitions *d, const struct table_definition *t);

/* The root of t's join; NULL for a cycle or a missing parent. */
const struct table_definition *definition_join_root(const struct definitions *d,
                                                    const struct table_definition *t);

/* The join field, given or default. */
struct str join_field(const struct join_definition *j);

/*
 * List the base tables of a topic's schema by name, in the arena.  Returns false if that fails;
 * the provider of the function knows why.
 */
typedef bool (*list_tables_fn)(void *ctx, struct str topic, struct str schema, struct arena *a,
                               struct str **out, size_t *n);

/*
 * The definitions of all tables of the lead's index, parents before children, in the arena.
 * For a pattern, these are copies with `table` set, one per existing table, by name. list may
 * be NULL if the lead has no pattern.  Returns false if list does.
 */
bool definition_members(const struct definitions *d, const struct table_definition *lead,
                        list_tables_fn list, void *ctx, struct arena *a,
                        const struct table_definition ***out, size_t *n) MUST_CHECK;

/* Tell whether the pattern matches the table. schema is the database's name on its server. */
bool definition_pattern_has(const struct definitions *d, const struct table_definition *t,
                            struct str schema, struct str table);

/* Tell whether the definition covers this DATABASE.TABLE, by name or by pattern. */
bool definition_names(const struct table_definition *t, struct str table);

/* Visit each database that may have tables of the pattern. */
typedef void (*pattern_database_fn)(void *ctx, const struct database_definition *db);
void definition_pattern_databases(const struct definitions *d, const struct table_definition *t,
                                  pattern_database_fn visit, void *ctx);

/* Returns what is wrong with the expression, in buf, or NULL. */
const char *definition_pattern_wrong(struct str pattern, char *buf, size_t cap);

/* The topic of all of t's tables; NULL if there is none or several. */
const struct topic_definition *definition_topic(const struct definitions *d,
                                                const struct table_definition *t);

#endif
