/* Checks of the engine's ingest pipelines that definitions name. */
#ifndef REBALANCE_CHECK_PIPELINES_H
#define REBALANCE_CHECK_PIPELINES_H

#include "rebalance/state/parts.h"
#include "src/base/str.h"

#include <stdbool.h>

struct definition_diff;
struct doctor_list;
struct problems;

/*
 * Check that the pipelines of the changed tables exist, and that none sets what a document is
 * found by.  Blocks.
 */
void coordinator_check_pipelines(struct coordinator *co, const struct definitions *d,
                                 const struct definition_diff *diff, struct problems *problems);
/* Check the pipelines of all tables.  Blocks. */
void coordinator_doctor_pipelines(struct coordinator *co, const struct definitions *d,
                                  struct doctor_list *l);

/*
 * Find a processor that sets the index, id, routing or version of documents, as far as its
 * options show.  json: the engine's answer to GET.  Returns what it sets, or NULL.
 */
const char *pipeline_find_identity(struct str json);

#endif
