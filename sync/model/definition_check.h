/*
 * A table's definition against the live database: what it names is there, has a key, fits
 * together, and can be looked up by an index.
 *
 * Errors are what could not work; warnings are what will be slow or is not followed.
 */
#ifndef SYNC_MODEL_DEFINITION_CHECK_H
#define SYNC_MODEL_DEFINITION_CHECK_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/problem.h"
#include "sync/model/catalog.h"
#include "sync/model/definition.h"

#include <stdbool.h>
#include <stddef.h>

struct mysql_conn;

/* Where the facts come from; schema and table are the names on the server. */
struct check_source {
    void *ctx;
    /* Borrowed until the check ends; schema NULL inside: there is no such table. */
    const struct table_facts *(*find)(void *ctx, struct str schema, struct str table);
    /* Offers the names of the schema's tables one by one; false: the schema has none that we
     * see. */
    bool (*each_table)(void *ctx, struct str schema, void (*offer)(void *to, struct str name),
                       void *to);
    /* ERR_REJECT in err when the server does not understand the condition or the order. */
    bool (*try_clause)(void *ctx, struct str schema, struct str table,
                       enum catalog_clause clause, struct str text, struct err *err);
    /* False: it is not known.  NULL: nobody can tell. */
    bool (*count_shares)(void *ctx, const struct shares_wanted *wanted,
                         struct catalog_shares *out);
};

/* @thread any (pure but for the source) */
void definition_check_facts(const struct definitions *d, const struct table_definition *t,
                            const struct check_source *source, struct problems *problems);

/* The same, asking the server.  False with err: it could not be asked.  Blocks. */
bool definition_check_table(struct mysql_conn *c, const struct definitions *d,
                            const struct table_definition *t, struct problems *problems,
                            struct err *err) MUST_CHECK;

#endif
