/*
 * Checks of `refresh: area`: whether it has an effect for a table, and whether the engine can
 * do it.
 */
#ifndef REBALANCE_CHECK_AREAS_H
#define REBALANCE_CHECK_AREAS_H

#include "rebalance/state/parts.h"

struct asked;
struct doctor_list;

/* Warn if the table's `refresh: area` has no effect, and say why.  Blocks. */
void coordinator_review_areas(struct coordinator *co, const struct definitions *d,
                              const struct table_definition *t, struct asked *asked,
                              struct problems *problems);
/* Check that the search engine runs the scripts that areas need.  Blocks. */
void coordinator_check_scripts(struct coordinator *co, const struct definitions *d,
                               struct doctor_list *l);

#endif
