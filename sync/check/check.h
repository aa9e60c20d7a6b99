/*
 * Check a table's definition against the live database: what it names exists, has a key, fits
 * together, and can be looked up by an index.
 *
 * Errors mark what cannot work; warnings mark what will be slow or is not followed.
 */
#ifndef SYNC_CHECK_CHECK_H
#define SYNC_CHECK_CHECK_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/format/problem.h"
#include "sync/check/checked_table.h"
#include "sync/definition/definition.h"

#include <stdbool.h>
#include <stddef.h>

struct mysql_conn;

/* @thread any (pure except for the source) */
void definition_check_facts(const struct definitions *d, const struct table_definition *t,
                            const struct check_source *source, struct problems *problems);

/*
 * Opens borrowed connections to the servers of topics.  If it returns NULL with err, that
 * server cannot be asked; the check reports this at the table that needs it.
 */
struct check_servers {
    void *ctx;
    struct mysql_conn *(*open)(void *ctx, struct str topic, struct err *err);
};

/*
 * Check likewise, asking the servers.  Returns false with err if one of them went away.
 * Blocks.
 */
bool definition_check_table(const struct check_servers *servers, const struct definitions *d,
                            const struct table_definition *t, struct problems *problems,
                            struct err *err) MUST_CHECK;

#endif
