/*
 * struct subject: a table that a definition names and what its server says of it, while the
 * definition is checked.
 *
 * @thread any (pure but for the source)
 */
#ifndef SYNC_MODEL_SUBJECT_H
#define SYNC_MODEL_SUBJECT_H

#include "src/base/err.h"
#include "src/base/str.h"
#include "src/problem.h"
#include "sync/binlog/schema.h"
#include "sync/model/catalog.h"
#include "sync/model/definition.h"
#include "sync/model/reach.h"

#include <stdbool.h>

/* Where the facts come from; schema and table are the names on the topic's server. */
struct check_source {
    void *ctx;
    /* Borrowed until the check ends; schema NULL inside: there is no such table. */
    const struct table_facts *(*find)(void *ctx, struct str topic, struct str schema,
                                      struct str table);
    /* Offers the names of the schema's tables one by one; false: the schema has none that we
     * see. */
    bool (*each_table)(void *ctx, struct str topic, struct str schema,
                       void (*offer)(void *to, struct str name), void *to);
    /* ERR_REJECT in err when the server does not understand the condition or the order. */
    bool (*try_clause)(void *ctx, struct str topic, const struct catalog_name *table,
                       enum catalog_clause clause, struct str text, struct err *err);
    /* False: it is not known.  NULL: nobody can tell. */
    bool (*count_shares)(void *ctx, struct str topic, const struct shares_wanted *wanted,
                         struct catalog_shares *out);
};

/* One check of one definition; everything is borrowed until it ends. */
struct checker {
    const struct definitions *d;
    const struct check_source *source;
    struct problems *problems;
    bool incomplete; /* a table is not there: the mapping cannot be made */
};

struct subject {
    struct str table; /* as the definition calls it */
    struct table_location at;
    struct place place;
    const struct table_facts *facts; /* NULL: reported */
    struct reach reach;              /* documents that one row of it is in */
};

/* The table of that name, which the definition mentions at place; reports one that is not
 * there. */
struct subject subject_find(struct checker *c, struct str table, struct place place);

/* Its column, borrowed from the facts; NULL after a report at its name, or `otherwise`. */
const struct column *subject_column(struct checker *c, const struct subject *s, struct str name,
                                    struct place otherwise);

/* Where the definition says this text, or `otherwise`. */
struct place subject_place(const struct checker *c, struct str text, struct place otherwise);

#endif
