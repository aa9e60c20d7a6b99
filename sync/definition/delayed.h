/*
 * Delayed tables: a change of their rows is kept as a snapshot, and the documents of other
 * tables that show the row are written again by a run (docs/delayed.md).
 *
 * By default the run finds these documents by the relations that lead to the table.  A top
 * relation gives it a statement instead.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_DELAYED_H
#define SYNC_DEFINITION_DELAYED_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/format/problem.h"
#include "sync/definition/definition.h"

#include <stddef.h>

struct arena;

struct top_relation {
    struct str table;       /* whose documents are written again: "shop.goods" */
    struct str column;      /* of its key */
    struct str level_sql;   /* a SELECT with the two columns below */
    struct str business_id; /* the delayed table's key */
    struct str target_key;  /* what `column` equals */
};

/* The table's top relations, in the arena; those that cannot be read are left out. */
size_t top_relations_read(struct arena *a, const struct table_definition *t,
                          struct top_relation **out);

/* Check what `delayed` and `top_relations` ask of other definitions. */
void definition_check_delayed(const struct definitions *d, struct problems *problems);

#endif
