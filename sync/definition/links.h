/*
 * Check what must hold between the objects of definitions, as far as no database is needed:
 * referenced names exist, join columns come in pairs, fields of a document differ, tables of
 * one index fit together (definition_sharing).
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_LINKS_H
#define SYNC_DEFINITION_LINKS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/format/problem.h"
#include "sync/definition/definition.h"

#include <stdbool.h>

void definition_check_links(const struct definitions *d, struct problems *problems);

/* Tell whether the table or one of its relations, at any depth, is in the database. */
bool definition_uses_database(const struct definitions *d, const struct table_definition *t,
                              struct str database);

#endif
