/*
 * Parts of plan_compile() that its files share.
 *
 * plan_compile  the tree of tables, and what they are joined by
 * plan_fields   what each of them shows
 * plan_areas    which parts of a document are written alone
 * plan_membership  what documents of one index share
 */
#ifndef SYNC_DOCUMENT_PLAN_COMPILER_H
#define SYNC_DOCUMENT_PLAN_COMPILER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/branch.h"
#include "sync/document/plan.h"
#include "sync/model/definition.h"

#include <stdbool.h>
#include <stddef.h>

/* What is being compiled; lists grow in ordinary memory and move to the arena when complete. */
struct plan_compiler {
    struct plan *plan;
    const struct definitions *defs;
    plan_schema_fn find;
    void *ctx;
    struct err *err;
};

/* The parts that a table and a relation have in common. */
struct plan_source {
    struct place place;
    struct str table; /* DATABASE.TABLE */
    bool all_columns;
    const struct column_definition *columns;
    size_t n_columns;
};

/* False, with the place of the definition and why. */
bool plan_refuse(struct plan_compiler *co, struct place at, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* The schema's column of that name; NULL: refused. */
const struct column *plan_find_column(struct plan_compiler *co, const struct schema *s,
                                      struct str name, struct place at);

/* Columns of the table above and of this one, by which rows are found. */
struct plan_joined {
    struct place place;
    const struct str *outer, *inner;
    size_t n_outer, n_inner;
};

/* One more place of the plan, that nothing leads to yet; NULL: refused. */
struct branch *plan_new_branch(struct plan_compiler *co, const struct plan_source *src) MUST_CHECK;
bool plan_add_joins(struct plan_compiler *co, struct branch *b, struct branch *parent,
                    const struct plan_joined *pairs) MUST_CHECK;
/* The way up from a row of b by its primary key. */
void plan_add_by_row(struct plan_compiler *co, struct branch *b);

/* Where c lies among the columns that b reads; it is added when it is not there yet. */
size_t plan_read_column(struct branch *b, const struct column *c);

/* The name as it stands in a document: "name": */
struct str plan_member_of(struct plan_compiler *co, struct str name);

/* Whether b has a field or a relation of that member already. */
bool plan_has_member(const struct branch *b, struct str member);

/* Fill the fields of b. */
bool plan_add_fields(struct plan_compiler *co, struct branch *b,
                     const struct plan_source *src) MUST_CHECK;

/* Fill what the plan says of areas, when its branches are complete. */
void plan_add_areas(struct plan_compiler *co, const struct table_definition *t);
/* What the root's documents have because they share an index; nothing where they do not. */
bool plan_add_membership(struct plan_compiler *co, struct branch *root,
                         const struct table_definition *t) MUST_CHECK;
/* The tables between the root's rows and the root of their join: the last places of the plan. */
bool plan_add_ancestors(struct plan_compiler *co, struct branch *root,
                        const struct table_definition *t) MUST_CHECK;

#endif
