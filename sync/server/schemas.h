/*
 * struct schemas: the present shapes of a source's tables, from information_schema.
 *
 * Loads a schema on first use and keeps it until schemas_forget(), which DDL in the stream
 * triggers.  Loads at once, on the next use of any, all that schemas_expect() named and all
 * that was used before schemas_forget().  For tables of other topics it uses what
 * schemas_set_others() provides.  Losing a privilege must not look like a dropped table or
 * column: for what the server refuses to show, it uses the remembered schema
 * (schemas_remember()), or reports the table as denied.
 *
 * @thread one at a time; blocks on the server
 */
#ifndef SYNC_SERVER_SCHEMAS_H
#define SYNC_SERVER_SCHEMAS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>

struct arena;
struct catalog_name;
struct ddl;
struct foreign_keys;
struct mysql_conn;
struct schema;
struct schemas;
struct schema_list;

/* topic is the one whose server it asks; copied. */
struct schemas *schemas_new(struct str topic) RETURNS_NONNULL MUST_CHECK;
void schemas_free(struct schemas *s); /* NULL is allowed */

/* Use this connection from now on; borrowed.  NULL for none. */
void schemas_use(struct schemas *s, struct mysql_conn *c);
bool schemas_uses(const struct schemas *s, const struct mysql_conn *c);
void schemas_forget(struct schemas *s);
/* Announce a table of the topic; names are copied. */
void schemas_expect(struct schemas *s, struct str database, struct str table);
/* Set who provides tables of other topics; NULL if there are none. */
void schemas_set_others(struct schemas *s, plan_schema_fn find, void *ctx);

/*
 * Provide the tables as last seen, borrowed until the next call; NULL if unknown.  What ddl
 * (NULL for none) has just changed or dropped no longer counts as seen.  Forgets what was
 * denied.
 */
void schemas_remember(struct schemas *s, const struct schema_list *before,
                      const struct ddl *ddl);

/*
 * A plan_schema_fn with a struct schemas as ctx.  Returns NULL if the table does not exist or
 * the query failed; schemas_failed() then says why.
 */
struct schema *schemas_find(void *ctx, struct str topic, struct str database, struct str table);

/*
 * A list_tables_fn (sync/definition/members.h) with a struct schemas as ctx.  If it returns
 * false, schemas_failed() says why, or schemas_denied() names a table that may not be read and
 * differs from what was remembered.
 */
bool schemas_list(void *ctx, struct str topic, struct str schema, struct arena *a,
                  struct str **out, size_t *n);

/* A cascade_keys_fn with a struct schemas as ctx. */
bool schemas_foreign_keys(void *ctx, const struct catalog_name *names, size_t n,
                          struct arena *a, struct foreign_keys *out,
                          struct err *err) MUST_CHECK;

/*
 * The refusal for the first denied table since schemas_remember(), whether a remembered schema
 * replaced it or not; ERR_NONE if there was none.
 */
const struct err *schemas_denied(const struct schemas *s);

/* The first failure since schemas_use(); ERR_NONE if all queries succeeded. */
const struct err *schemas_failed(const struct schemas *s);

#endif
