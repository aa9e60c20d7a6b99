/*
 * struct cascade_plan: which documents foreign keys change by themselves.
 *
 * A server applies ON DELETE and ON UPDATE without row events for the children (MySQL from 9.6
 * on writes them).  So for each table from which such keys lead, over any number of levels, to
 * documents that somebody keeps, this says how these are found: by the child's columns, with
 * the values that the parent's row had, in the documents.
 *
 * Where a key refers to columns that another one fills (a tenant that is in every key), the
 * values go through and the levels between are skipped; where it refers to others as well, they
 * find too much, which does no harm.  Else the level between must itself be an index, which
 * shows the keys of its rows; where none is, the documents below are blind.
 *
 * Where a key changes only columns that no document reads at a place, nothing is looked for.
 *
 * Pure; immutable.  @thread any
 */
#ifndef SYNC_CASCADE_PLAN_H
#define SYNC_CASCADE_PLAN_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/model/foreign_keys.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct cascade_table;
struct plan;

enum cascade_cause { CASCADE_DELETE = 0, CASCADE_UPDATE, N_CASCADE_CAUSES };

/* From a changed row to rows that change with it. */
struct cascade_key {
    const struct cascade_table *child;
    struct str name;    /* of the last foreign key on the way */
    bool deletes;       /* the children go; else columns of them change */
    struct str *columns, *parent_columns; /* in pairs: the child's, the changed table's */
    size_t n_columns;
    const struct foreign_key *last; /* whose action it is: all its columns may change */
};

/* Where children of a key are looked for: a place of the target's plan. */
struct cascade_look {
    size_t key; /* of the effect */
    size_t place;
};

struct cascade_step { /* all of one target */
    size_t target;    /* as the plans were given */
    struct cascade_look *looks;
    size_t n_looks;
};

/* Documents that change and cannot be found. */
struct cascade_blind {
    size_t target;
    const struct cascade_key *key; /* that changes them */
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
    bool goes; /* its rows are deleted by keys */

    /* For the compiler. */
    struct foreign_key *keys;
    size_t n_keys;
    struct cascade_place *places;
    size_t n_places;
    size_t visit;
};

struct cascade_plan {
    struct arena *arena;
    struct cascade_table **tables;
    size_t n_tables;
};

/* The foreign keys of a table as the child, in the arena. */
typedef bool (*cascade_keys_fn)(void *ctx, struct str schema, struct str table, struct arena *a,
                                struct foreign_key **keys, size_t *n, struct err *err);

/* NULL: keys could not be had (err). */
struct cascade_plan *cascade_plan_compile(struct plan *const *plans, size_t n,
                                          cascade_keys_fn find, void *ctx,
                                          struct err *err) MUST_CHECK;
void cascade_plan_free(struct cascade_plan *p); /* NULL is fine */

/* NULL: nothing that is kept changes with its rows. */
const struct cascade_table *cascade_plan_find(const struct cascade_plan *p, struct str schema,
                                              struct str table);

/* It changes something. */
bool cascade_table_matters(const struct cascade_table *t);

#endif
