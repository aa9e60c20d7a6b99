/*
 * struct asked: a connection to each topic's server, opened on first use, and the schemas read
 * there: those of all tables that the definitions name are read together, on the first use of
 * any.
 *
 * The caller provides the storage and ends it with asked_fini().
 *
 * @thread one at a time; blocks
 */
#ifndef REBALANCE_CHECK_ASKED_H
#define REBALANCE_CHECK_ASKED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct asking;
struct definitions;
struct mysql_conn;
struct schema;
struct schemas;

struct asked {
    const struct definitions *d; /* borrowed */
    const char *folder;          /* password files are relative to it; borrowed */
    struct asking *asking;       /* borrowed; NULL: nobody interrupts queries */
    struct mysql_conn **conns;   /* one per topic; NULL: not opened yet, or unreachable */
    struct schemas **schemas;    /* one per topic */
};

void asked_init(struct asked *a, const struct definitions *d, const char *folder,
                struct asking *asking);
void asked_fini(struct asked *a);

/*
 * The open callback of check_servers; ctx is a struct asked.  The result is borrowed; NULL if
 * the server cannot be reached.
 */
struct mysql_conn *asked_open(void *ctx, struct str topic, struct err *err);
/*
 * Replace the topic's connection and take ownership of conn, which must come from the same
 * asking.
 */
void asked_put(struct asked *a, struct str topic, struct mysql_conn *conn);

/*
 * The schemas of the topic's server, borrowed; asked_find() finds tables of other topics for
 * them.  If the server cannot be reached, they find nothing.
 */
struct schemas *asked_schemas(struct asked *a, struct str topic) RETURNS_NONNULL;
/* A plan_schema_fn; ctx is a struct asked. */
struct schema *asked_find(void *ctx, struct str topic, struct str database, struct str table);
/* A list_tables_fn; ctx is a struct asked. */
bool asked_list(void *ctx, struct str topic, struct str schema, struct arena *a,
                struct str **out, size_t *n);

#endif
