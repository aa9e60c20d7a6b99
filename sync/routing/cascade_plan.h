/*
 * struct cascade_plan: which documents foreign keys change by themselves.
 *
 * A server applies ON DELETE and ON UPDATE without row events for the children (MySQL logs them
 * from 9.6 on).  For each table from which such keys lead, over any number of levels, to
 * documents, the plan says how to find these: by the child's columns, with the values of the
 * parent's row, in the documents.
 *
 * If a key refers to columns that another key fills (a tenant in every key), the values pass
 * through and the levels between are skipped; if it refers to other columns as well, the search
 * finds too much, which is harmless.  Otherwise the level between must have an index that shows
 * its rows' keys; without one, the documents below are blind.
 *
 * If a key changes the columns that find a child's document (its own key, or its join columns),
 * the child leaves one document and joins another, which does not show it yet: SQL finds that
 * one, with the present values of the parent's row.  If a key changes only columns that no
 * document reads at a place, nothing is looked up there.
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

/* Where to look for a key's children: a place of the target's plan. */
struct cascade_look {
    size_t key; /* index in the effect */
    size_t place;

    /* The columns that find rows of the place and that the key changes. */
    unsigned by;   /* as in sync/document/resolver.h; 0 for none */
    size_t *parts; /* indexes of the key's columns */
    size_t n_parts;
};

struct cascade_step { /* all for one target */
    size_t target;    /* index as the plans were given */
    struct cascade_look *looks;
    size_t n_looks;
};

/* Documents that change and cannot be found. */
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
    bool goes; /* foreign keys delete its rows */

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

/* Load the foreign keys of a child table, in the arena. */
typedef bool (*cascade_keys_fn)(void *ctx, struct str schema, struct str table, struct arena *a,
                                struct foreign_key **keys, size_t *n, struct err *err);

/* Returns NULL with err if the keys could not be loaded. */
struct cascade_plan *cascade_plan_compile(struct plan *const *plans, size_t n,
                                          cascade_keys_fn find, void *ctx,
                                          struct err *err) MUST_CHECK;
void cascade_plan_free(struct cascade_plan *p); /* NULL is allowed */

/* Returns NULL if nothing in any document changes with its rows. */
const struct cascade_table *cascade_plan_find(const struct cascade_plan *p, struct str schema,
                                              struct str table);

/* Tell whether it changes anything. */
bool cascade_table_matters(const struct cascade_table *t);

#endif
