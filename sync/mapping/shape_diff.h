/*
 * What a change of tables' shapes means for the documents of an index version: compares its
 * tables as they were when the documents were made with their present shape.
 *
 * Considers what the definition uses: columns shown, joined on, named in an expression or part
 * of a key, and all that these are generated from.  Does not report a named column that is
 * gone: the plan then fails to compile (sync/document/plan.h).
 *
 * @thread any (pure except for the two finders)
 */
#ifndef SYNC_MAPPING_SHAPE_DIFF_H
#define SYNC_MAPPING_SHAPE_DIFF_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/definition/definition.h"
#include "sync/mapping/mapping.h"

struct ddl;

/* In order of severity. */
enum shape_change {
    SHAPE_SAME = 0,
    SHAPE_ADDED,   /* new columns are NULL in all existing rows */
    SHAPE_CHANGED, /* documents of existing rows change */
    SHAPE_KEY,     /* documents get other ids */
};

/* A delayed table, by which documents of existing rows change. */
struct shape_later {
    char table[256]; /* "shop.label" */
    char reason[256];
};
#define SHAPE_LATER_MAX 4 /* what further ones change is not delayed */

struct shape_diff {
    enum shape_change change; /* but for later */
    char reason[256];         /* the first column that causes the change; "" for SHAPE_SAME */
    struct shape_later later[SHAPE_LATER_MAX];
    size_t n_later;
};

struct shape_find {
    mapping_schema_fn
        find; /* returns NULL for a table that is unknown or missing; it is left out */
    void *ctx;
};

/* The statement just read, whose effect the shapes may not fully show. */
struct shape_event {
    struct str topic;      /* the statement's topic; empty if all tables are on it */
    const struct ddl *ddl; /* NULL for none */
    bool hidden;           /* with an earlier statement, it did more than the shapes show */
    bool filling; /* the version is being built: it may contain rows from before the statement,
                     and rows of the log in the old form */
    const struct definitions *now; /* say which tables are delayed; NULL: none is */
};

/* event may be NULL. */
struct shape_diff shape_diff_make(const struct definitions *d, const struct table_definition *t,
                                  const struct shape_find *was, const struct shape_find *is,
                                  const struct shape_event *event);
/* Whether the table is one of diff->later. */
bool shape_diff_is_later(const struct shape_diff *diff, struct str table);

#endif
