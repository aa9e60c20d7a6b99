/*
 * The body that an index version is created with: settings and mappings from a table's
 * definition and the live schemas.
 *
 * The mapping is strict: a document with a field that is not in it is refused by the engine, as
 * it would be a mistake of ours; `dynamic` in the definition's own `mapping` says otherwise.
 * `mapping` of the definition is merged over what is made here, and wins.
 *
 * Where tables share an index, its body is made of all of them, whichever is asked for.
 *
 * @thread any (pure but for find and list)
 */
#ifndef SYNC_MODEL_MAPPING_H
#define SYNC_MODEL_MAPPING_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/problem.h"
#include "src/engine.h"
#include "sync/model/definition.h"
#include "sync/model/definition_members.h"

#include <stdbool.h>

struct buf;
struct schema;

/* Finds the schema of a topic's table by its names on the server; borrowed while mapping; NULL:
 * unknown. */
typedef struct schema *(*mapping_schema_fn)(void *ctx, struct str topic, struct str schema,
                                            struct str table);

struct mapping_request {
    const struct definitions *definitions;
    const struct table_definition *table;
    bool alone; /* only what this table makes of it, though it shares its index */
    mapping_schema_fn find;
    list_tables_fn list; /* may be NULL where the table has no pattern, or is alone */
    void *ctx;           /* of both */
    struct engine engine;
    struct str meta;     /* JSON object, put into _meta; empty: none */
    struct str alias;    /* write alias to make with the index; empty: none */
    bool filling;        /* with the settings for filling, not the final ones */
};

/* {"settings":...,"mappings":...,"aliases":...}, appended.  ERR_REJECT names the first mistake.
 */
bool mapping_index_body(const struct mapping_request *r, struct buf *json,
                        struct err *err) MUST_CHECK;

/* The mappings alone, for `mapping TABLE` and to add fields to an index that is there. */
bool mapping_body(const struct mapping_request *r, struct buf *json,
                  struct err *err) MUST_CHECK;

/* Every mistake of what the definition says about fields, with its place. */
void mapping_check(const struct mapping_request *r, struct problems *problems);

#endif
