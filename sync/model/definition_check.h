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

/* Where the facts come from; schema and table are the names on the topic's server. */
struct check_source {
    void *ctx;
    /* Borrowed until the check ends; schema NULL inside: there is no such table. */
    const struct table_facts *(*find)(void *ctx, struct str topic, struct str schema,
                                      struct str table);
    /* Offers the names of the schema's tables one by one; false: the schema has none that we
     * see. */
    bool (*each_table)(void *ctx, struct str topic, struct str schema,
                       void (*offer)(void *to, struct str name), void *to);
    /* ERR_REJECT in err when the server does not understand the condition or the order. */
    bool (*try_clause)(void *ctx, struct str topic, const struct catalog_name *table,
                       enum catalog_clause clause, struct str text, struct err *err);
    /* False: it is not known.  NULL: nobody can tell. */
    bool (*count_shares)(void *ctx, struct str topic, const struct shares_wanted *wanted,
                         struct catalog_shares *out);
};

/* @thread any (pure but for the source) */
void definition_check_facts(const struct definitions *d, const struct table_definition *t,
                            const struct check_source *source, struct problems *problems);

/* Borrowed connections to the servers of topics; NULL (err): that one cannot be asked, which is
 * reported at the table that wants it. */
struct check_servers {
    void *ctx;
    struct mysql_conn *(*open)(void *ctx, struct str topic, struct err *err);
};

/* The same, asking the servers.  False with err: one of them went away.  Blocks. */
bool definition_check_table(const struct check_servers *servers, const struct definitions *d,
                            const struct table_definition *t, struct problems *problems,
                            struct err *err) MUST_CHECK;

#endif
