/*
 * struct routing: where the changes of a source's tables go.
 *
 * For each table that the binlog may name: the index versions and the place in their documents.
 * Immutable and reference-counted: a change of definitions or versions makes a new one, which
 * the builder takes at a known position of the stream.
 *
 * @thread any
 */
#ifndef SYNC_ROUTING_H
#define SYNC_ROUTING_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/cascade_plan.h"
#include "sync/delivery/target.h"
#include "sync/document/plan.h"
#include "sync/server_access.h"
#include "sync/shapes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turnstile;

/* What a target's `plan` points to: how its documents are read again. */
struct reading {
    struct plan *plan;
    char *alias; /* the index version: "orders" … */
    uint64_t number; /* … and 2 of orders_v2 */
    struct server_access *server;
    struct arena *shards; /* what the target's are in; NULL: it has none */
    bool stopped; /* atomic: the table cannot go on, its changes are deferred */
    bool filling; /* its index is being built: rows may have no document yet */
    struct turnstile *turnstile; /* of its index, borrowed; changes and fills pass it */
};
void reading_free(void *r);

/* One use of a table: a place in the documents of one index version. */
struct use {
    struct target *target;
    struct plan *plan; /* target's */
    size_t place;      /* 0: the root */
    bool guest;        /* its documents belong to another topic, to which changes are handed over */
};

/* One table of the source. */
struct watched {
    struct str database, table;
    struct schema *schema; /* by which its rows are read; NULL: gone */
    struct shape *shape;   /* where that is from; NULL: gone */
    struct use *uses;
    size_t n_uses; /* 0: only others change with it */
    const struct cascade_table *cascade; /* what changes along with its rows; NULL: nothing */
};

struct routing {
    struct target **targets;
    size_t n_targets;
    struct target **guests; /* of other topics: their documents show tables of this one */
    size_t n_guests;
    struct map *by_name; /* "database\0table" -> struct watched */
    bool any_case;       /* as struct schema: the log may have the names in another case */
    char *topic;
    struct cascade_plan *cascades; /* its targets are these; NULL: nobody has looked */
    unsigned refs;
};

/* Takes a reference to each target, the topic's own and guests, whose plans say which tables of the
 * topic they look at. */
struct routing *routing_new(struct str topic, struct target *const *targets, size_t n,
                            plan_schema_fn find, void *ctx) RETURNS_NONNULL MUST_CHECK;
/* Takes the plan over; watches the tables from which it leads. */
void routing_set_cascades(struct routing *r, struct cascade_plan *cascades, plan_schema_fn find,
                          void *ctx);
struct routing *routing_ref(struct routing *r) RETURNS_NONNULL;
void routing_unref(struct routing *r); /* NULL is fine */

/* Rows of the table are read by this shape.  Before others see the routing. */
void watched_set_shape(struct watched *w, struct shape *shape);

/* NULL: nobody wants this table. */
const struct watched *routing_find(const struct routing *r, struct str database,
                                   struct str table);

/* Whether the server takes one name of a database or table for the other. */
bool routing_same_name(const struct routing *r, struct str a, struct str b);

#endif
