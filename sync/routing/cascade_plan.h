/*
 * struct cascade_plan: which documents change when a server applies foreign keys.
 *
 * A server applies ON DELETE and ON UPDATE without row events for the children (MySQL logs them
 * from 9.6 on).  For each table from which such keys lead to documents, directly or over
 * several levels, the plan says how to find these documents: search the index for the child's
 * columns, with the values of the parent's row.
 *
 * Over several levels, a key may refer only to columns that the key above it fills (a tenant in
 * every key).  Then the values of the top row find the documents, and nothing looks for the
 * rows between.  If it also refers to other columns of rows that the key above deletes:
 * - An index without a filter that has a document for each such row, with these columns, gives
 *   those rows, and the search continues from them.
 * - Without such an index, the shared columns find the documents, and others with them.  Those
 *   are read again for nothing, which is harmless.
 * - Without such an index and without shared columns, nothing can find the documents.  The plan
 *   lists them as blind.
 * A key above that only updates its children matters below only by the columns that it fills.
 *
 * A key may change the columns by which a child's document is found (the document's key, or the
 * join columns).  The child then leaves one document and joins another, and the index does not
 * show it in the new one yet.  SQL finds the new one, by the present values of the parent's
 * row.  At a place where no document reads the changed columns, nothing is looked up.
 *
 * Pure; immutable.  @thread any
 */
#ifndef SYNC_ROUTING_CASCADE_PLAN_H
#define SYNC_ROUTING_CASCADE_PLAN_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/catalog/foreign_keys.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct cascade_table;
struct plan;

enum cascade_cause { CASCADE_DELETE = 0, CASCADE_UPDATE, N_CASCADE_CAUSES };

/* From a changed row to the rows that change with it. */
struct cascade_key {
    const struct cascade_table *child;
    struct str name; /* of the last foreign key on the path */
    bool deletes;    /* deletes the children; otherwise changes their columns */
    bool moves;      /* moves them to the present values of the changed row */
    struct str *columns, *parent_columns; /* in pairs: the child's, the changed table's */
    size_t n_columns;
    const struct foreign_key
        *last; /* the key whose action applies: all its columns may change */
};

/* Where documents show a key's children: a place of the target's plan. */
struct cascade_look {
    size_t key; /* index in the effect */
    size_t place;

    /* For a key that moves its children: its columns by which SQL finds the new documents. */
    unsigned by;   /* RESOLVER_BY bits; 0 for none */
    size_t *parts; /* their indexes among the key's columns */
    size_t n_parts;
};

struct cascade_step { /* all for one target */
    size_t target;    /* index as the plans were given */
    struct cascade_look *looks;
    size_t n_looks;
};

/* A target with documents that change and that nothing can find. */
struct cascade_blind {
    size_t target;
    const struct cascade_key *key; /* the key that changes them */
    struct str reason;
};

struct cascade_effect {
    struct cascade_key *keys;
    size_t n_keys;
    struct cascade_step *steps;
    size_t n_steps;
    struct cascade_blind *blind;
    size_t n_blind;
};

struct cascade_table {
    struct str schema, table;
    struct cascade_effect on[N_CASCADE_CAUSES];
    bool goes; /* some foreign key deletes its rows */

    /* For the compiler. */
    struct foreign_keys own;
    struct cascade_place *places;
    size_t n_places;
    size_t visit;
};

struct cascade_plan {
    struct arena *arena;
    struct cascade_table **tables;
    size_t n_tables;
};

/* Load the foreign keys of child tables, with their actions, in the arena: one of `out` each.
 */
typedef bool (*cascade_keys_fn)(void *ctx, const struct catalog_name *names, size_t n,
                                struct arena *a, struct foreign_keys *out, struct err *err);

/* Calls find() for all tables at once, then for the parents found so, level by level.  Returns
 * NULL with err if it fails.  The plans are borrowed. */
struct cascade_plan *cascade_plan_compile(struct plan *const *plans, size_t n,
                                          cascade_keys_fn find, void *ctx,
                                          struct err *err) MUST_CHECK;
void cascade_plan_free(struct cascade_plan *p); /* NULL is allowed */

/* Borrowed.  Returns NULL if foreign keys change no document when a row of this table changes.
 */
const struct cascade_table *cascade_plan_find(const struct cascade_plan *p, struct str schema,
                                              struct str table);

/* Tell whether some document changes with the table's rows, found or blind. */
bool cascade_table_matters(const struct cascade_table *t);

#endif
