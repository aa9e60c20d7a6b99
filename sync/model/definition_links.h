/*
 * What must hold between the objects of definitions, as far as no database is needed for it:
 * names that are referred to exist, join columns come in pairs, fields of one document differ,
 * tables of one index fit together (definition_sharing).
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_DEFINITION_LINKS_H
#define SYNC_MODEL_DEFINITION_LINKS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/problem.h"
#include "sync/model/definition.h"

#include <stdbool.h>

void definition_check_links(const struct definitions *d, struct problems *problems);

/* Whether the table, or a relation of it at any depth, is in the database. */
bool definition_uses_database(const struct definitions *d, const struct table_definition *t,
                              struct str database);

#endif
