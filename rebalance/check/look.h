/*
 * struct look: one connection, and the schemas read over it, for each topic of a table.
 * Independent of the stream.
 *
 * @thread one at a time; blocks
 */
#ifndef REBALANCE_CHECK_LOOK_H
#define REBALANCE_CHECK_LOOK_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct asking;
struct coordinator;
struct database_definition;
struct definitions;
struct mysql_conn;
struct plan;
struct schema;
struct schema_list;
struct schemas;
struct server_access;
struct table_definition;

struct look {
    struct asking *asking; /* borrowed; set it before look_open(); NULL: nobody interrupts */
    struct str *topics;    /* borrowed from the definitions; the root's topic first */
    const struct database_definition **databases; /* of each topic, the first database found */
    struct server_access **servers;
    struct mysql_conn **conns;
    struct schemas **schemas;
    size_t n;
};

/*
 * ERR_REJECT, or why a server could not be reached; the message names a topic other than the
 * root's.
 */
bool look_open(struct look *l, struct coordinator *co, const struct definitions *d,
               const struct table_definition *t, struct err *err) MUST_CHECK;
/* Safe after a failed look_open() and on a zeroed struct. */
void look_close(struct look *l);

/* Call schemas_remember() for each topic. */
void look_remember(struct look *l, const struct schema_list *before);

/*
 * A plan_schema_fn; ctx is a struct look.  look_failed() gives the failure, as
 * schemas_failed().
 */
struct schema *look_find(void *ctx, struct str topic, struct str database, struct str table);
/* A list_tables_fn; ctx is a struct look. */
bool look_list(void *ctx, struct str topic, struct str schema, struct arena *a,
               struct str **out, size_t *n);
const struct err *look_failed(const struct look *l);
/* As schemas_denied(), for the first topic with a denied table. */
const struct err *look_denied(const struct look *l);

/*
 * The connection of each topic in the plan, in the plan's order, as the loader takes them.  The
 * caller frees the array.
 */
struct mysql_conn **look_conns(const struct look *l, const struct plan *p) RETURNS_NONNULL;

#endif
