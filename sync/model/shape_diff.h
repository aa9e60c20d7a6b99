/*
 * What a change of tables' shapes means for the documents of an index version: its tables as
 * they were when its documents were made, and as they are.
 *
 * Looks at what the definition uses of them: columns that are shown, joined by, or named in a
 * condition, and keys.  A named column that is gone is not told here: no plan can be compiled
 * without it (sync/document/plan.h).
 *
 * @thread any (pure but for the two finders)
 */
#ifndef SYNC_MODEL_SHAPE_DIFF_H
#define SYNC_MODEL_SHAPE_DIFF_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/model/definition.h"
#include "sync/model/mapping.h"

struct ddl;

/* In order of what they ask for. */
enum shape_change {
    SHAPE_SAME = 0,
    SHAPE_ADDED,   /* columns come in that are NULL in all rows that were there */
    SHAPE_CHANGED, /* documents of rows that were there say something else now */
    SHAPE_KEY,     /* documents have other ids */
};

struct shape_diff {
    enum shape_change change;
    char reason[256]; /* the first column that asks for it; "" for SHAPE_SAME */
};

struct shape_find {
    mapping_schema_fn find; /* NULL for a table that is not known, or not there: left out */
    void *ctx;
};

/* The statement that was just met, whose shapes may not show all of it. */
struct shape_event {
    struct str topic;      /* whose it is; empty: that of every table */
    const struct ddl *ddl; /* NULL: none */
    bool hidden;           /* with one before, it did more than shapes show */
    bool filling; /* the version is being built: rows of before the statement may be in it, and
                     rows of the log in the form from before */
};

/* event NULL: there is none. */
struct shape_diff shape_diff_make(const struct definitions *d,
                                  const struct table_definition *t,
                                  const struct shape_find *was, const struct shape_find *is,
                                  const struct shape_event *event);

#endif
