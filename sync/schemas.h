/*
 * struct schemas: the shapes of a source's tables as information_schema says now.
 *
 * Loaded when first asked for and kept until forgotten, which DDL in the stream does.  Of tables
 * of other topics it knows what it was given (schemas_set_others()).
 *
 * @thread one at a time; blocks on the server
 */
#ifndef SYNC_SCHEMAS_H
#define SYNC_SCHEMAS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>

struct arena;
struct foreign_key;
struct mysql_conn;
struct schema;
struct schemas;

/* topic: whose server is asked; copied. */
struct schemas *schemas_new(struct str topic) RETURNS_NONNULL MUST_CHECK;
void schemas_free(struct schemas *s); /* NULL is fine */

/* The connection that is asked from now on, borrowed; NULL: none. */
void schemas_use(struct schemas *s, struct mysql_conn *c);
void schemas_forget(struct schemas *s);
/* Who is asked for tables of other topics; NULL: there are none. */
void schemas_set_others(struct schemas *s, plan_schema_fn find, void *ctx);

/*
 * As plan_schema_fn, with a struct schemas as ctx: NULL when there is no such table, or when it
 * could not be asked for; then schemas_failed() says why.
 */
struct schema *schemas_find(void *ctx, struct str topic, struct str database, struct str table);

/* As list_tables_fn (sync/model/definition_members.h), with a struct schemas as ctx; where it is
 * false, schemas_failed() says why. */
bool schemas_list(void *ctx, struct str topic, struct str schema, struct arena *a,
                  struct str **out, size_t *n);

/* As cascade_keys_fn, with a struct schemas as ctx. */
bool schemas_foreign_keys(void *ctx, struct str database, struct str table, struct arena *a,
                          struct foreign_key **keys, size_t *n,
                          struct err *err) MUST_CHECK;

/* The first trouble since schemas_use(); ERR_NONE when every answer was an answer. */
const struct err *schemas_failed(const struct schemas *s);

#endif
