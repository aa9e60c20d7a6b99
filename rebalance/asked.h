/*
 * struct asked: connections to the servers of topics, each opened when it is first wanted, and
 * what their tables look like.
 *
 * The caller's storage: end it with asked_fini().
 *
 * @thread one at a time; blocks
 */
#ifndef REBALANCE_ASKED_H
#define REBALANCE_ASKED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct definitions;
struct mysql_conn;
struct schema;
struct schemas;

struct asked {
    const struct definitions *d; /* borrowed */
    const char *folder;          /* of files that they name; borrowed */
    struct mysql_conn **conns;   /* one for each topic; NULL: not asked yet, or not there */
    struct schemas **schemas;
};

void asked_init(struct asked *a, const struct definitions *d, const char *folder);
void asked_fini(struct asked *a);

/* Of check_servers, ctx: a struct asked.  Borrowed; NULL: it cannot be reached. */
struct mysql_conn *asked_open(void *ctx, struct str topic, struct err *err);
/* This is the connection from now on; taken over. */
void asked_put(struct asked *a, struct str topic, struct mysql_conn *conn);

/* As plan_schema_fn, ctx: a struct asked. */
struct schema *asked_find(void *ctx, struct str topic, struct str database, struct str table);
/* As list_tables_fn, ctx as above */
bool asked_list(void *ctx, struct str topic, struct str schema, struct arena *a, struct str **out,
                size_t *n);

#endif
