/*
 * The catalog: the tables and indexes that a server has now, from information_schema.
 *
 * One statement asks about many tables, thousands if they are in one schema; the server opens
 * these alone.  Servers also hide tables that we may not read;
 * catalog_is_denied() tells these from missing ones.  Nothing is cached here.
 *
 * @thread the connection's; every call blocks
 */
#ifndef SYNC_CATALOG_CATALOG_H
#define SYNC_CATALOG_CATALOG_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/value/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct mysql_conn;

struct catalog_name {
    struct str schema, table;
};

/* Fill out with one element per name, in the same order: a schema with a reference, or NULL. */
bool catalog_load(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                  struct schema **out, struct err *err) MUST_CHECK;

/* An index that lookups can use. */
struct catalog_index {
    struct str name;
    bool is_unique;
    bool has_prefix;     /* indexes only the first bytes of some column */
    struct str *columns; /* in index order; empty for an expression */
    size_t n_columns;
};

/*
 * Find out whether an earlier statement lacked the table, or these columns of it, only because
 * we may not see them; n_columns 0 asks about the table. err says the result: the server's
 * refusal (mysql_err_is_denial()); ERR_NONE if they do not exist; ERR_RETRY if they are visible
 * by now; another error if the query failed.
 */
bool catalog_is_denied(struct mysql_conn *c, const struct catalog_name *name,
                       const struct str *columns, size_t n_columns, struct err *err) MUST_CHECK;

/* The facts that a definition is checked against. */
struct table_facts {
    struct schema *schema;         /* NULL if the table does not exist or may not be read ... */
    struct err denied;             /* ... and then the refusal, if any */
    uint64_t n_rows;               /* the server's estimate */
    struct catalog_index *indexes; /* sorted by name */
    size_t n_indexes;
};

/*
 * Like catalog_load(), with everything except the schemas in the arena, and without `denied`.
 * Free with table_facts_fini().
 */
bool catalog_load_facts(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                        struct arena *a, struct table_facts *out, struct err *err) MUST_CHECK;
/*
 * Set `denied` of each table without a schema, by one statement each; where many of a database
 * do not exist, the others do not either.
 */
bool catalog_find_denied(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                         struct table_facts *facts, struct err *err) MUST_CHECK;
void table_facts_fini(struct table_facts *facts, size_t n);

/* List the tables and views of a schema by name, at most max, for "did you mean". */
bool catalog_list_tables(struct mysql_conn *c, struct str schema, size_t max, struct arena *a,
                         struct str **out, size_t *n, struct err *err) MUST_CHECK;

/*
 * Count how many rows of a table share values in some of its columns, without rows that have a
 * NULL there.  Examines at most SHARES_ROWS_MAX rows, so the true maximum may be larger.
 */
#define SHARES_ROWS_MAX 100000
struct shares_wanted {
    struct catalog_name name;
    const struct str *columns;
    size_t n_columns;
    uint64_t n_rows; /* of the table, as far as known */
    bool has_index;  /* an index begins with the columns */
};
struct catalog_shares {
    uint64_t largest;          /* rows with the most frequent value */
    uint64_t n_values, n_rows; /* examined */
    bool complete;             /* all rows were examined */
};
/* By one statement for all n.  ERR_REJECT may concern any of them. */
bool catalog_count_shares(struct mysql_conn *c, const struct shares_wanted *w, size_t n,
                          struct catalog_shares *out, struct err *err) MUST_CHECK;

/* List the base tables of a schema by name. */
bool catalog_list_base_tables(struct mysql_conn *c, struct str schema, struct arena *a,
                              struct str **out, size_t *n, struct err *err) MUST_CHECK;

/* List the tables of a schema by name that we see, but may not read in full. */
bool catalog_list_unreadable(struct mysql_conn *c, struct str schema, struct arena *a,
                             struct str **out, size_t *n, struct err *err) MUST_CHECK;

enum catalog_clause { CLAUSE_WHERE = 0, CLAUSE_ORDER_BY };
struct clause_wanted {
    struct catalog_name name;
    enum catalog_clause clause;
    struct str text;
};
/*
 * Ask the server to parse n of them, by one statement.  ERR_REJECT carries its error text,
 * which may concern any of them.
 */
bool catalog_try_clauses(struct mysql_conn *c, const struct clause_wanted *w, size_t n,
                         struct err *err) MUST_CHECK;

#endif
