/*
 * The catalog: what tables and indexes a server has now, from information_schema.
 *
 * Many tables are asked for in one statement, each by its two names, as MariaDB opens every
 * table of a schema that is asked for with IN.  What we may not see does not exist.  Nothing is
 * cached here.
 *
 * @thread that of the connection; every call blocks
 */
#ifndef SYNC_MODEL_CATALOG_H
#define SYNC_MODEL_CATALOG_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct mysql_conn;

struct catalog_name {
    struct str schema, table;
};

/* out has one element for each name, in the same order: a schema with a reference, or NULL. */
bool catalog_load(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                  struct schema **out, struct err *err) MUST_CHECK;

/* An index that lookups can use. */
struct catalog_index {
    struct str name;
    bool is_unique;
    bool has_prefix;     /* of a column only the first bytes are in it */
    struct str *columns; /* in the index's order; empty where it is an expression */
    size_t n_columns;
};

/* What a definition is checked against. */
struct table_facts {
    struct schema *schema;         /* NULL: there is no such table */
    uint64_t n_rows;               /* the server's estimate */
    struct catalog_index *indexes; /* by name */
    size_t n_indexes;
};

/* Like catalog_load, with everything but the schemas in the arena; free with table_facts_fini.
 */
bool catalog_load_facts(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                        struct arena *a, struct table_facts *out, struct err *err) MUST_CHECK;
void table_facts_fini(struct table_facts *facts, size_t n);

/* Names of the tables and views of a schema, for "did you mean"; by name, at most max. */
bool catalog_list_tables(struct mysql_conn *c, struct str schema, size_t max, struct arena *a,
                         struct str **out, size_t *n, struct err *err) MUST_CHECK;

/*
 * How many rows of a table have the same values in some of its columns.  Rows with a NULL there
 * are none.  Looks at SHARES_ROWS_MAX rows at most, so that the largest may be larger.
 */
#define SHARES_ROWS_MAX 100000
struct shares_wanted {
    struct catalog_name name;
    const struct str *columns;
    size_t n_columns;
    uint64_t n_rows; /* of the table, as far as known */
    bool has_index;  /* that begins with the columns */
};
struct catalog_shares {
    uint64_t largest;          /* rows of the value that most have */
    uint64_t n_values, n_rows; /* looked at */
    bool complete;             /* these are all */
};
bool catalog_count_shares(struct mysql_conn *c, const struct shares_wanted *w,
                          struct catalog_shares *out, struct err *err) MUST_CHECK;

/* Names of the base tables of a schema, by name. */
bool catalog_list_base_tables(struct mysql_conn *c, struct str schema, struct arena *a,
                              struct str **out, size_t *n, struct err *err) MUST_CHECK;

/* Whether a condition, or what rows are ordered by, makes sense to the server: ERR_REJECT with
 * its words. */
enum catalog_clause { CLAUSE_WHERE = 0, CLAUSE_ORDER_BY };
bool catalog_try_clause(struct mysql_conn *c, const struct catalog_name *name,
                        enum catalog_clause clause, struct str text,
                        struct err *err) MUST_CHECK;

#endif
