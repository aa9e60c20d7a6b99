/*
 * struct routing: where changes of a source's tables go.
 *
 * For each table that the binlog may name: the index versions and the place in their documents.
 * Immutable and reference-counted: a change of definitions or versions makes a new one, which
 * the builder adopts at a known position of the stream.
 *
 * @thread any
 */
#ifndef SYNC_ROUTING_ROUTING_H
#define SYNC_ROUTING_ROUTING_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/document/target.h"
#include "sync/document/plan.h"
#include "sync/routing/cascade_plan.h"
#include "sync/routing/shapes.h"
#include "sync/server/server_access.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grace_period;

/* How to re-read a target's documents; a target's `plan` points to it. */
struct reading {
    struct plan *plan;
    char *alias;     /* of the index version: "orders" ... */
    uint64_t number; /* ... and the 2 of orders_v2 */
    struct server_access *server;
    struct arena *shards; /* holds the target's shards; NULL if it has none */
    struct str *delayed;  /* by place, the delayed table there: "shop.label", or empty; NULL: no
                             place has one */
    struct arena *names;  /* holds them */
    bool stopped;         /* atomic: the table is stopped, its changes are deferred */
    bool filling;         /* its index is being built: rows may have no document yet */
    struct grace_period *grace_period; /* of its index, a reference; changes and fills pass
                                          through it; NULL before a pipeline has it */
};
void reading_free(void *r);

/* One use of a table: a place in the documents of one index version. */
struct use {
    struct target *target;
    struct plan *plan;  /* the target's */
    size_t place;       /* 0 for the root */
    bool guest;         /* another topic owns the documents: hand changes over to it */
    struct str delayed; /* the delayed table that it is; empty: its changes follow at once */
};

/* One table of the source. */
struct watched {
    struct str database, table;
    struct schema *schema; /* the shape to decode its rows with; NULL if the table is gone */
    struct shape *shape;   /* the origin of schema; NULL if the table is gone */
    struct use *uses;
    size_t n_uses; /* 0: only other rows change with it */
    const struct cascade_table
        *cascade; /* what changes along with its rows; NULL for nothing */
};

struct routing {
    struct target **targets;
    size_t n_targets;
    struct target **guests; /* of other topics: their documents show tables of this one */
    size_t n_guests;
    struct map *by_name; /* "database\0table" -> struct watched */
    bool any_case;       /* as in struct schema: the log may spell names in another case */
    char *topic;
    struct cascade_plan *cascades; /* its targets are these; NULL if not compiled */
    unsigned refs;
};

/*
 * Takes a reference to each target, the topic's own and guests.  Their plans say which tables
 * of the topic they use.
 */
struct routing *routing_new(struct str topic, struct target *const *targets,
                            size_t n) RETURNS_NONNULL MUST_CHECK;
/* Takes over the plan, and watches the tables it starts from. */
void routing_set_cascades(struct routing *r, struct cascade_plan *cascades, plan_schema_fn find,
                          void *ctx);
/* Whether foreign keys change documents of the target; also if nobody knows yet. */
bool routing_has_cascades(const struct routing *r, const struct target *t);
struct routing *routing_ref(struct routing *r) RETURNS_NONNULL;
void routing_unref(struct routing *r); /* NULL is allowed */

/* Decode the table's rows with this shape.  Call before others see the routing. */
void watched_set_shape(struct watched *w, struct shape *shape);

/* Returns NULL if nothing uses this table. */
const struct watched *routing_find(const struct routing *r, struct str database,
                                   struct str table);

/* Tell whether the server treats two names of a database or table as the same. */
bool routing_same_name(const struct routing *r, struct str a, struct str b);

/*
 * struct seek: the routings at which to request a document that a changed row leads to.
 *
 * Mostly the one that the same statement returned.  But a row by which documents find their
 * root moves them, and only rows that may have changed since told where they were: such
 * documents are requested in every shard as well.  A read that finds a document belonging
 * elsewhere deletes it there and requests it at its place (sync/delivery/document/operation.h).
 */
struct seek {
    const struct str *shards; /* the target's */
    size_t n_shards;          /* 0: only the returned routing */
    bool by_path;             /* a document without a routing has no place now */
};

/* For documents that rows of this place of the target's plan lead to. */
struct seek seek_from(const struct target *t, size_t place);

/* The number of routings for a document with this returned routing, and each of them. */
size_t seek_count(const struct seek *s, struct str told);
struct str seek_at(const struct seek *s, struct str told, size_t i);

#endif
