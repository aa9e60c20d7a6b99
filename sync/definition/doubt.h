/*
 * Find expressions of a table's definition whose result may change while their row does not
 * (expression.h).  `apply` refuses them; if one is stored already, `status` and `doctor` report
 * it, since it continues to run.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_DOUBT_H
#define SYNC_DEFINITION_DOUBT_H

#include "src/base/base.h"
#include "src/format/problem.h"
#include "sync/definition/definition.h"

#include <stdbool.h>

/* An error for each. */
void definition_check_doubt(const struct definitions *d, const struct table_definition *t,
                            struct problems *problems);

#endif
