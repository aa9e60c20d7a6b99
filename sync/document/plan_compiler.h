/*
 * What the files of plan_compile() share.
 *
 *   plan_compile     the tree of tables and their joins
 *   plan_fields      what each table shows
 *   plan_areas       which parts of a document are written alone
 *   plan_membership  what documents of one index share
 */
#ifndef SYNC_DOCUMENT_PLAN_COMPILER_H
#define SYNC_DOCUMENT_PLAN_COMPILER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/definition/definition.h"
#include "sync/document/plan.h"
#include "sync/document/plan_node.h"

#include <stdbool.h>
#include <stddef.h>

/* A compilation in progress.  Lists grow on the heap and move to the arena when complete. */
struct plan_compiler {
    struct plan *plan;
    const struct definitions *defs;
    plan_schema_fn find;
    void *ctx;
    struct err *err;
};

/* What a table and a relation have in common. */
struct plan_source {
    struct place place;
    struct str table; /* DATABASE.TABLE */
    bool all_columns;
    const struct column_definition *columns;
    size_t n_columns;
};

/* Set the error with the definition's place.  Returns false. */
bool plan_refuse(struct plan_compiler *co, struct place at, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* Find the schema's column; NULL after a refusal. */
const struct column *plan_find_column(struct plan_compiler *co, const struct schema *s,
                                      struct str name, struct place at);

/* The joined columns of the table above and of this one. */
struct plan_joined {
    struct place place;
    const struct str *outer, *inner;
    size_t n_outer, n_inner;
};

/* Add a place to the plan, not yet linked to any other.  NULL after a refusal. */
struct plan_node *plan_new_node(struct plan_compiler *co,
                                const struct plan_source *src) MUST_CHECK;
bool plan_add_joins(struct plan_compiler *co, struct plan_node *b, struct plan_node *parent,
                    const struct plan_joined *pairs) MUST_CHECK;
/* Add the way up from a row of b by its primary key. */
void plan_add_by_row(struct plan_compiler *co, struct plan_node *b);

/* The index of c among the columns that b reads; adds it if missing. */
size_t plan_read_column(struct plan_node *b, const struct column *c);

/* The name as written in a document: "name": */
struct str plan_member_of(struct plan_compiler *co, struct str name);

/* Tell whether b already has a field or relation of that name. */
bool plan_has_member(const struct plan_node *b, struct str member);

/* Add the fields of b. */
bool plan_add_fields(struct plan_compiler *co, struct plan_node *b,
                     const struct plan_source *src) MUST_CHECK;

/* Add the areas to the plan, once its nodes are complete. */
void plan_add_areas(struct plan_compiler *co, const struct table_definition *t);
/* Add what documents of a shared index have; nothing if the index is not shared. */
bool plan_add_membership(struct plan_compiler *co, struct plan_node *root,
                         const struct table_definition *t) MUST_CHECK;
/*
 * Add the tables between the root's rows and the root of their join, as the last places of the
 * plan.
 */
bool plan_add_ancestors(struct plan_compiler *co, struct plan_node *root,
                        const struct table_definition *t) MUST_CHECK;

#endif
