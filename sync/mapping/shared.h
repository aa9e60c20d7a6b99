/*
 * Combine the fields of tables that share an index, and add the field that tells their
 * documents apart.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MAPPING_SHARED_H
#define SYNC_MAPPING_SHARED_H

#include "src/format/problem.h"
#include "src/format/yaml.h"
#include "sync/definition/definition.h"

struct arena;

struct mapping_shared {
    struct arena *arena;
    struct problems *problems;
    struct yaml_node *all; /* the properties of the index */
};

/*
 * Add t's fields.  A field has one mapping for all tables.  Integer types widen; any other
 * difference is reported.
 */
void mapping_shared_add(const struct mapping_shared *s, const struct table_definition *t,
                        const struct yaml_node *properties);

/* Add the join field, or `source_field`, of lead's index. */
void mapping_shared_mark(const struct mapping_shared *s, const struct definitions *d,
                         const struct table_definition *lead);

#endif
