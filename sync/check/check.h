/*
 * Check a table's definition against the live database: what it names exists, has a key, fits
 * together, and can be looked up by an index.
 *
 * Errors mark what cannot work; warnings mark what will be slow or is not followed.
 */
#ifndef SYNC_CHECK_CHECK_H
#define SYNC_CHECK_CHECK_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/format/problem.h"
#include "sync/check/checked_table.h"
#include "sync/definition/definition.h"

#include <stdbool.h>
#include <stddef.h>

/* @thread any (pure except for the source) */
void definition_check_facts(const struct definitions *d, const struct table_definition *t,
                            const struct check_source *source, struct problems *problems);

#endif
