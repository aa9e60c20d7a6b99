/*
 * Index versions and live schemas to a routing.
 *
 * @thread the builder's; blocks on the server through schemas
 */
#ifndef SYNC_ROUTING_COMPILE_H
#define SYNC_ROUTING_COMPILE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/binlog/schema_json.h"
#include "sync/model/definition_members.h"
#include "sync/routing.h"

#include <stddef.h>

struct ddl;
struct definitions;
struct schemas;
struct table_definition;

/* One index version that a source writes to. */
/* A database that has a server of its own. */
struct database_server {
    char *database; /* as definitions call it */
    struct server_access *server;
};

struct version_spec {
    struct definitions *definitions; /* as the version was built */
    const struct table_definition *table; /* the lead of its index */
    char *topic; /* of the table: whose owner writes the documents */
    struct server_access *server; /* the topic's, where documents are read again, … */
    struct database_server *own;  /* … but those of tables of these databases */
    size_t n_own;
    char *index;                  /* "orders_v2" */
    char *alias;                  /* "orders" */
    uint64_t number;              /* 2 */
    char *write_alias;
    char *shards; /* a routing for each shard, with spaces between; NULL: not needed */
    uint64_t version_min; /* lowest version of its lineage */
    bool stopped;
    bool filling; /* it is being built */
};
void version_spec_free(struct version_spec *v); /* NULL is fine */
/* Where documents of this table of its index are read again; borrowed. */
struct server_access *version_spec_server(const struct version_spec *v,
                                          struct str table) RETURNS_NONNULL;
void version_specs_free(struct version_spec **specs, size_t n);
struct version_spec **version_specs_copy(const struct version_spec *const *specs,
                                         size_t n) RETURNS_NONNULL MUST_CHECK;

/* way_out: the command of the ways out; NULL: it may be built again by itself. */
typedef void (*table_stop_fn)(void *ctx, struct target *target, const char *reason,
                              const char *way_out);

/* A topic's tables as they are now, and the statement that was just met (NULL: none). */
struct tables_now {
    struct str topic;
    plan_schema_fn find; /* of the topic's */
    list_tables_fn list;
    void *ctx; /* of both */
    const struct ddl *ddl;
    bool hidden; /* it may undo what another one did before the tables were looked at */
};
/*
 * Bring the version's index in step with its tables.  ERR_RETRY: not now; ERR_REJECT: it cannot
 * be, and why.
 */
typedef bool (*version_fit_fn)(void *ctx, const struct version_spec *v,
                               const struct tables_now *now, struct err *err);

/*
 * The tables of a version as they were when it was brought in step last, into an empty list.
 * Those of other topics are taken from there: each topic looks at its own.  ERR_RETRY: not kept
 * yet.
 */
typedef bool (*version_kept_fn)(void *ctx, const struct version_spec *v,
                                struct schema_list *tables, struct err *err);

struct routing_hooks {
    version_fit_fn fit;
    version_kept_fn kept;
    table_stop_fn stop;
    void *ctx;
};

/*
 * now: its ctx is schemas.  Versions that are stopped are left out; one that does not fit the schemas any more is told to
 * stop.  NULL: the schemas could not be read, or an index not be brought in step (err).
 */
struct routing *routing_compile(const char *topic, struct version_spec *const *specs, size_t n,
                                struct schemas *schemas, const struct tables_now *now,
                                const struct routing_hooks *hooks, struct err *err) MUST_CHECK;

#endif
