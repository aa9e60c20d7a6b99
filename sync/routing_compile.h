/*
 * Index versions and live schemas to a routing.
 *
 * @thread the builder's; blocks on the server through schemas
 */
#ifndef SYNC_ROUTING_COMPILE_H
#define SYNC_ROUTING_COMPILE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/routing.h"

#include <stddef.h>

struct definitions;
struct schemas;
struct table_definition;

/* One index version that a source writes to. */
struct version_spec {
    struct definitions *definitions; /* as the version was built */
    const struct table_definition *table;
    struct server_access *server; /* where its documents are read again */
    char *index;                  /* "orders_v2" */
    char *write_alias;
    uint64_t version_min; /* lowest version of its lineage */
    bool stopped;
};
void version_spec_free(struct version_spec *v); /* NULL is fine */
/* Copies strings, takes references. */
struct version_spec *version_spec_copy(const struct version_spec *v) RETURNS_NONNULL MUST_CHECK;
void version_specs_free(struct version_spec **specs, size_t n);
struct version_spec **version_specs_copy(const struct version_spec *const *specs,
                                         size_t n) RETURNS_NONNULL MUST_CHECK;

typedef void (*table_stop_fn)(void *ctx, struct target *target, const char *reason,
                              const char *way_out);

/*
 * Versions that are stopped are left out; one whose plan does not fit the schemas any more is
 * told to stop.  NULL: the schemas could not be read (err).
 */
struct routing *routing_compile(const char *topic, struct version_spec *const *specs, size_t n,
                                struct schemas *schemas, table_stop_fn stop, void *ctx,
                                struct err *err) MUST_CHECK;

#endif
