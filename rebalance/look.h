/*
 * struct look: a look at a table's servers outside the stream: for each topic that its tables are
 * on one connection and the schemas.
 *
 * @thread one at a time; blocks
 */
#ifndef REBALANCE_LOOK_H
#define REBALANCE_LOOK_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct coordinator;
struct database_definition;
struct definitions;
struct mysql_conn;
struct plan;
struct schema;
struct schemas;
struct server_access;
struct table_definition;

struct look {
    struct str *topics; /* borrowed from the definitions; the root's first */
    const struct database_definition **databases; /* the first that was met of each */
    struct server_access **servers;
    struct mysql_conn **conns;
    struct schemas **schemas;
    size_t n;
};

/* ERR_REJECT, or what kept it from a server, whose topic it names. */
bool look_open(struct coordinator *co, const struct definitions *d,
               const struct table_definition *t, struct look *l, struct err *err) MUST_CHECK;
/* Also after a failed look_open(), and of a zeroed one. */
void look_close(struct look *l);

/* As plan_schema_fn, with a struct look as ctx; look_failed() as schemas_failed(). */
struct schema *look_find(void *ctx, struct str topic, struct str database, struct str table);
/* As list_tables_fn. */
bool look_list(void *ctx, struct str topic, struct str schema, struct arena *a, struct str **out,
               size_t *n);
const struct err *look_failed(const struct look *l);

/* A connection for each topic of a plan of the table, as the loader wants them; free() it. */
struct mysql_conn **look_conns(const struct look *l, const struct plan *p) RETURNS_NONNULL;

#endif
