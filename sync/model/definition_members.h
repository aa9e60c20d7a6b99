/*
 * The tables whose documents share one index: parents and children of a join field, or all
 * tables that a pattern names.
 *
 * One definition stands for the index (its lead): the root of a join, the pattern, or the table
 * that has its index alone.  What belongs to an index (its versions, stops, builds, settings) is
 * kept under the name of the lead.
 *
 * @thread any (pure but for list)
 */
#ifndef SYNC_MODEL_DEFINITION_MEMBERS_H
#define SYNC_MODEL_DEFINITION_MEMBERS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/model/definition.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* The definition that stands for t's index, which may be t itself. */
const struct table_definition *
definition_lead(const struct definitions *d, const struct table_definition *t) RETURNS_NONNULL;
/* The member of t's index whose `settings` hold for it: they agree where several have some. */
const struct table_definition *
definition_settings(const struct definitions *d, const struct table_definition *t) RETURNS_NONNULL;
/* The lead of an alias; NULL: no table has it. */
const struct table_definition *definition_lead_of(const struct definitions *d,
                                                  struct str index);

/* How many tables t is below the root of its join: 0 for the root, SIZE_MAX in a circle or
 * where a parent is missing. */
size_t definition_join_level(const struct definitions *d, const struct table_definition *t);

/* The root of t's join; NULL: in a circle, or a parent is missing. */
const struct table_definition *definition_join_root(const struct definitions *d,
                                                    const struct table_definition *t);

/* Its field, with the default applied. */
struct str join_field(const struct join_definition *j);

/*
 * The base tables of a topic's schema, by name, in the arena.  False: they could not be asked for, which
 * whoever gave the function knows.
 */
typedef bool (*list_tables_fn)(void *ctx, struct str topic, struct str schema, struct arena *a,
                               struct str **out, size_t *n);

/*
 * The definitions of all tables of the lead's index, parents before their children; those of a
 * pattern are copies with `table` set, one for each table that is there now, by name.  In the
 * arena.  list may be NULL where the lead has no pattern.  False: list was false.
 */
bool definition_members(const struct definitions *d, const struct table_definition *lead,
                        list_tables_fn list, void *ctx, struct arena *a,
                        const struct table_definition ***out, size_t *n) MUST_CHECK;

/* Whether the pattern names the table; schema is the database's name on its server. */
bool definition_pattern_has(const struct definitions *d, const struct table_definition *t,
                            struct str schema, struct str table);

/* Whether the definition is of this DATABASE.TABLE, by name or by its pattern. */
bool definition_names(const struct table_definition *t, struct str table);

/* Whether databases can have tables of the pattern, and which: visit is called for each. */
typedef void (*pattern_database_fn)(void *ctx, const struct database_definition *db);
void definition_pattern_databases(const struct definitions *d, const struct table_definition *t,
                                  pattern_database_fn visit, void *ctx);

/* What is wrong with the expression; NULL: nothing.  The text is in buf. */
const char *definition_pattern_wrong(struct str pattern, char *buf, size_t cap);

/* The topic that all its tables are on; NULL: none, or several. */
const struct topic_definition *definition_topic(const struct definitions *d,
                                                const struct table_definition *t);

#endif
