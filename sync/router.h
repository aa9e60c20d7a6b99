/*
 * struct router: keeps the routing of a source's builder in step with the index versions that
 * it is to write to and with the tables as they are.
 *
 * A routing is made of what information_schema says at a moment that includes all DDL read so
 * far; the shapes by which the log's rows are read go with it.  When none can be made, the
 * builder keeps the one that it has and reads nothing more until the next dump.
 *
 * @thread the builder's; blocks on the server and the store
 */
#ifndef SYNC_ROUTER_H
#define SYNC_ROUTER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/routing_compile.h"

#include <stdbool.h>
#include <stdint.h>

struct assignment;
struct builder;
struct ddl;
struct known_server;
struct read_position;
struct router;
struct server_access;
struct stop;
struct store;

struct router_options { /* all borrowed */
    const char *topic;
    uint64_t epoch;
    uint64_t start;  /* where the stream starts, as a version */
    uint64_t before; /* the same place in the log of the server before, 0: none */
    struct store *store;
    struct server_access *server;
    struct known_server *known;
    struct read_position *reader;
    struct builder *builder;
    struct assignment *assignment;
    struct stop *stop; /* ends what waits for the server */
    struct routing_hooks hooks;
    void (*waits)(void *ctx, const struct err *why); /* with hooks.ctx; NULL: not any more */
};

/* Loads the shapes.  @thread any, before the builder starts */
struct router *router_new(const struct router_options *opt) RETURNS_NONNULL MUST_CHECK;
/* After the builder's end. */
void router_free(struct router *r); /* NULL is fine */

/* A dump begins: whatever the tables are now. */
void router_begin(struct router *r);
/* DDL was met in the stream.  False: nothing was learned of it. */
bool router_on_ddl(struct router *r, const struct ddl *ddl, struct err *err) MUST_CHECK;
/* Index versions are wanted that may not be taken yet. */
void router_take(struct router *r);
/* Until what the row that witness names (sync/witness.h) was changed by is committed; where none
 * is named, or it is not there, a settle delay instead.  ERR_RETRY: it is locked for too long, or
 * the server is away; ERR_STOP. */
bool router_wait_committed(struct router *r, struct str witness, struct err *err) MUST_CHECK;
/* The connection goes; the next use opens another. */
void router_disconnect(struct router *r);

#endif
