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
#include "sync/model/definition.h"
#include "sync/model/subject.h"

#include <stdbool.h>
#include <stddef.h>

struct mysql_conn;

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
