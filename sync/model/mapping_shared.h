/*
 * The fields of tables that share an index, put together: what each of them makes, and the field
 * by which their documents are told apart.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_MAPPING_SHARED_H
#define SYNC_MODEL_MAPPING_SHARED_H

#include "src/problem.h"
#include "src/yaml.h"
#include "sync/model/definition.h"

struct arena;

struct mapping_shared {
    struct arena *arena;
    struct problems *problems;
    struct yaml_node *all; /* the properties of the index */
};

/*
 * Add what t makes.  A field has one mapping, whichever table's documents show it; of whole numbers
 * the wider; anything else that differs is reported.
 */
void mapping_shared_add(const struct mapping_shared *s, const struct table_definition *t,
                        const struct yaml_node *properties);

/* Add the join field, or `source_field`, of the index that lead stands for. */
void mapping_shared_mark(const struct mapping_shared *s, const struct definitions *d,
                         const struct table_definition *lead);

#endif
