/*
 * The body to create an index version with: settings and mappings from a table's definition and
 * the live schemas.
 *
 * The mapping is strict: the engine refuses a document with an unmapped field, since that would
 * be our mistake.  `dynamic` in the definition's `mapping` can override this.  The definition's
 * `mapping` is merged over the generated one and wins.  Tables that share an index all
 * contribute to one body, whichever is asked for.
 *
 * @thread any (pure except for find and list)
 */
#ifndef SYNC_MAPPING_MAPPING_H
#define SYNC_MAPPING_MAPPING_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/format/problem.h"
#include "src/search/engine.h"
#include "sync/definition/definition.h"
#include "sync/definition/members.h"

#include <stdbool.h>

struct buf;
struct schema;

/*
 * Find a table's schema by topic and its names on the server.  Borrowed while mapping; NULL if
 * unknown.
 */
typedef struct schema *(*mapping_schema_fn)(void *ctx, struct str topic, struct str schema,
                                            struct str table);

struct mapping_request {
    const struct definitions *definitions;
    const struct table_definition *table;
    bool alone; /* only this table's part, though it shares its index */
    mapping_schema_fn find;
    list_tables_fn list; /* may be NULL if the table has no pattern or is alone */
    void *ctx;           /* for find and list */
    struct engine engine;
    struct str meta;  /* JSON object for _meta; empty for none */
    struct str alias; /* write alias to create with the index; empty for none */
    bool filling;     /* use the settings for filling, not the final ones */
};

/* Append {"settings":...,"mappings":...,"aliases":...}. ERR_REJECT names the first mistake. */
bool mapping_index_body(const struct mapping_request *r, struct buf *json,
                        struct err *err) MUST_CHECK;

/* Append only the mappings, for `mapping TABLE` and to add fields to an existing index. */
bool mapping_body(const struct mapping_request *r, struct buf *json,
                  struct err *err) MUST_CHECK;

/* Report every mistake about fields in the definition, at its place. */
void mapping_check(const struct mapping_request *r, struct problems *problems);

#endif
