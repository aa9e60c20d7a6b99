/*
 * Compile index versions and live schemas into a routing.
 *
 * @thread the builder's; blocks on the server through schemas
 */
#ifndef SYNC_ROUTING_COMPILE_H
#define SYNC_ROUTING_COMPILE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/definition/members.h"
#include "sync/routing/routing.h"
#include "sync/value/schema_json.h"

#include <stddef.h>

struct ddl;
struct definitions;
struct schemas;
struct table_definition;

/* One index version that a source writes to (struct version_spec). */
/* A database with a server of its own. */
struct database_server {
    char *database; /* its name in the definitions */
    struct server_access *server;
};

struct version_spec {
    struct definitions *definitions; /* as the version was built */
    struct definitions *now; /* as they are: they say which tables are delayed; NULL: none */
    const struct table_definition *table; /* the lead of its index */
    char *topic;                          /* of the table: its owner writes the documents */
    struct server_access *server;         /* the topic's server, for re-reads ... */
    struct database_server *own;          /* ... except of tables in these databases */
    size_t n_own;
    char *index;     /* "orders_v2" */
    char *alias;     /* "orders" */
    uint64_t number; /* 2 */
    char *write_alias;
    char *shards; /* a routing for each shard, separated by spaces; NULL if not needed */
    uint64_t version_min; /* the lowest version of its lineage */
    bool stopped;
    bool filling; /* it is being built */
    bool aside;   /* searches do not use it: it is being built, waits, or is kept */
};
void version_spec_free(struct version_spec *v); /* NULL is allowed */
/* The server for re-reads of documents of this table of its index; borrowed. */
struct server_access *version_spec_server(const struct version_spec *v,
                                          struct str table) RETURNS_NONNULL;
void version_specs_free(struct version_spec **specs, size_t n);
struct version_spec **version_specs_copy(const struct version_spec *const *specs,
                                         size_t n) RETURNS_NONNULL MUST_CHECK;

/* way_out is the command that resolves the stop; NULL: an automatic rebuild may. */
typedef void (*table_stop_fn)(void *ctx, struct target *target, const char *reason,
                              const char *way_out);

/* A statement changed rows, without events, of a delayed table that documents show. */
struct table_put_off { /* all borrowed */
    struct target *target;
    struct str table;   /* "shop.label" */
    const char *reason; /* "truncate table of shop.label at binlog.000007" */
    uint64_t version;   /* of the statement */
};
/*
 * Have all documents of the index version wait for a run; durable on return.  Returns false if
 * the version must be stopped instead.
 */
typedef bool (*table_put_off_fn)(void *ctx, const struct table_put_off *what);

/* A topic's tables as they are now, and the statement just read (NULL for none). */
struct tables_now {
    struct str topic;
    plan_schema_fn find; /* finds the topic's tables */
    list_tables_fn list;
    void *ctx; /* for find and list */
    const struct ddl *ddl;
    bool hidden; /* the statement may undo what an earlier one did before the tables were looked
                    at */
};
/*
 * Bring the version's index in line with its tables.  ERR_RETRY: not now; ERR_REJECT says why
 * it is impossible.  For a stopped version, only notes what the statement takes away.
 */
typedef bool (*version_fit_fn)(void *ctx, const struct version_spec *v,
                               const struct tables_now *now, struct err *err);

/*
 * Load the version's tables as they were when it was last brought in line, into an empty list.
 * This provides tables of other topics: each topic looks at its own only.  ERR_RETRY if not
 * stored yet.
 */
typedef bool (*version_kept_fn)(void *ctx, const struct version_spec *v,
                                struct schema_list *tables, struct err *err);

struct routing_hooks {
    version_fit_fn fit;
    version_kept_fn kept;
    table_stop_fn stop;
    /*
     * Report tables of the index that the server refuses to show, for which remembered schemas
     * were used. why is NULL if it shows all.
     */
    void (*denied)(void *ctx, const char *index, const struct err *why);
    void *ctx;
};

/*
 * now->ctx must be schemas.  Leaves out stopped versions, and stops one that no longer fits the
 * schemas.  Returns NULL with err if the schemas could not be read or an index not brought in
 * line.
 */
struct routing *routing_compile(const char *topic, struct version_spec *const *specs, size_t n,
                                struct schemas *schemas, const struct tables_now *now,
                                const struct routing_hooks *hooks, struct err *err) MUST_CHECK;

/*
 * The targets of a version, parents first, for whoever only reads its rows: as its tables were
 * when it was last brought in line.  Blocks on nothing.  The caller owns the list and a
 * reference to each.  ERR_REJECT: these tables make no documents.
 */
bool version_kept_targets(const struct version_spec *v, const struct schema_list *tables,
                          struct target ***out, size_t *n, struct err *err) MUST_CHECK;

/* Whether the plan's rows at this place are that table's. */
struct table_location;
bool routing_is_place_of(const struct plan *plan, size_t place,
                         const struct table_location *at) MUST_CHECK;

#endif
