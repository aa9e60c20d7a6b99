/*
 * struct survey: everything that a schema has, read with one statement for each kind of fact,
 * whatever the number of its tables.
 *
 * @thread the connection's; survey_load() blocks
 */
#ifndef SYNC_DRAFT_SURVEY_H
#define SYNC_DRAFT_SURVEY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/catalog/catalog.h"
#include "sync/catalog/foreign_keys.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct mysql_conn;

struct survey_table {
    struct str name;
    const struct table_facts *facts; /* their schema is NULL if the table went meanwhile */
    bool is_denied;                  /* we may not read some of its columns */
};

struct survey {
    struct str schema;
    struct survey_table *tables; /* base tables, by name */
    size_t n_tables;
    struct foreign_key *keys; /* of all tables, by table and name */
    size_t n_keys;
    struct str *views; /* and sequences, by name */
    size_t n_views;
    struct table_facts *facts; /* of the tables */
};

/*
 * Load the survey of a schema into the arena; the caller's schema name must live as long.
 * ERR_REJECT if the schema does not exist, or our user may not see it.  Free with
 * survey_fini(), also after an error.
 */
bool survey_load(struct mysql_conn *c, struct str schema, struct arena *a, struct survey *out,
                 struct err *err) MUST_CHECK;
void survey_fini(struct survey *s);

/* Returns the table's index, or n_tables. */
size_t survey_find(const struct survey *s, struct str table);

/* Tell whether documents can show the table's rows. */
bool survey_is_usable(const struct survey_table *t);

#endif
