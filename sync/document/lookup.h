/*
 * Where documents of a plan show a column of one of its tables, and the query that finds the
 * documents which show given values of it.
 *
 * A column is shown by its own field, by the field of a column that it is joined to, or, where
 * it is the root's key, by `_id`.  Which of these can be searched is for the mapping to say.
 *
 * Values are texts as key_append() makes them.  What is found may be more than was asked for:
 * other elements of the same array, other combinations of several columns.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_LOOKUP_H
#define SYNC_DOCUMENT_LOOKUP_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
struct plan;

/* How one column is searched. */
struct lookup_term {
    struct str field;  /* "items.product_id", "_id" */
    struct str nested; /* the innermost nested object that it lies in; empty: none */
    struct str prefix; /* in front of each value's text */
    bool fold_case;    /* the column's texts are equal whatever their case */
};

/* Queries take so many values of a column at most. */
#define LOOKUP_MAX 500

/*
 * How the column of that name is searched.  mapping: {"properties": ...} of the index.  False:
 * it is not (ERR_REJECT with why and what to do).
 */
bool lookup_find(const struct plan *p, size_t place, struct str column, struct str mapping,
                 struct arena *a, struct lookup_term *out, struct err *err) MUST_CHECK;

/* The values of one term. */
struct lookup_values {
    const struct str *texts;
    size_t n;
};
/* Documents where each of the n columns has one of its values. */
void lookup_query(struct buf *json, const struct lookup_term *terms,
                  const struct lookup_values *values, size_t n);

/* Where documents of a join's table lie hangs on the column of their rows: so does where those
 * below them do. */
bool lookup_places(const struct plan *p, struct str column);
/*
 * How documents of the child's plan are searched by the `_id`s of their parents, documents of p,
 * whose rows say where they lie.  False: no such tables.
 */
bool lookup_children(const struct plan *p, const struct plan *child, struct arena *a,
                     struct lookup_term *out);

/* Which part of the root's key the column is; false: none. */
bool lookup_root_column(const struct plan *p, struct str column, size_t *part);

#endif
