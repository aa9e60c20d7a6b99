/*
 * struct router: keeps the routing of a source's builder in step with the index versions to
 * write to and with the present tables.
 *
 * The router makes a routing from what information_schema says at a moment that includes all
 * DDL read so far, with the shapes by which the log's rows are decoded.  If it cannot make one,
 * the builder keeps its routing and reads nothing more until the next dump.
 *
 * @thread the builder's; blocks on the server and the store
 */
#ifndef SYNC_PIPELINE_ROUTER_H
#define SYNC_PIPELINE_ROUTER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/routing/compile.h"

#include <stdbool.h>
#include <stdint.h>

struct wanted_versions;
struct builder;
struct ddl;
struct known_server;
struct mysql_group;
struct read_position;
struct router;
struct server_access;
struct stop;
struct store;

struct router_options { /* all borrowed */
    const char *topic;
    uint64_t epoch;
    uint64_t start;  /* where the stream starts, as a version */
    uint64_t before; /* the same place in the previous server's log, 0: none */
    struct store *store;
    struct server_access *server;
    struct known_server *known;
    struct mysql_group *group; /* ends reads of schemas; NULL if none */
    struct read_position *reader;
    struct builder *builder;
    struct wanted_versions *wanted;
    struct stop *stop; /* ends waits for the server */
    struct routing_hooks hooks;
    void (*waits)(void *ctx, const struct err *why); /* ctx is hooks.ctx; NULL: waits no more */
};

/* Loads the shapes.  @thread any, before the builder starts */
struct router *router_new(const struct router_options *opt) RETURNS_NONNULL MUST_CHECK;
/* The builder must have ended. */
void router_free(struct router *r); /* NULL is allowed */

/* A dump begins: reroute to the tables as they are now. */
void router_begin(struct router *r);
/* Reroute after DDL in the stream.  Returns false if the new tables could not be read. */
bool router_on_ddl(struct router *r, const struct ddl *ddl, struct err *err) MUST_CHECK;
/* Reroute if some wanted index versions are not adopted yet. */
void router_take(struct router *r);
/*
 * Wait until the transaction that changed the row named by wait_sql (sync/read/commit_wait.h)
 * has committed.  If wait_sql is empty, or the row is gone, wait a settle delay instead.
 * ERR_RETRY: the row is locked for too long, or the server is away; ERR_STOP.
 */
bool router_wait_committed(struct router *r, struct str wait_sql, struct err *err) MUST_CHECK;
/* Close the connection; the next use opens another. */
void router_disconnect(struct router *r);

#endif
