/*
 * Where documents of a plan show a table's column, and the query that finds documents with
 * given values of it.
 *
 * A column shows in its own field, in the field of a column joined to it, or in `_id` if it is
 * the root's key.  The mapping says which of these are searchable.  Values are texts as from
 * key_append().  A query may find more than asked: other elements of the same array, other
 * combinations of columns.
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

/* How to search for one column. */
struct lookup_term {
    struct str field;  /* "items.product_id", "_id" */
    struct str nested; /* the innermost nested object around it; empty if none */
    struct str prefix; /* prefixed to each value's text */
    bool fold_case;    /* the column ignores case */
};

/* Limits the values of one column per query. */
#define LOOKUP_MAX 500

/*
 * Find out how to search for the named column. mapping is the index's {"properties": ...}.
 * ERR_REJECT, with the reason and a remedy, if it is not searchable.
 */
bool lookup_find(const struct plan *p, size_t place, struct str column, struct str mapping,
                 struct arena *a, struct lookup_term *out, struct err *err) MUST_CHECK;

/* The values of one term. */
struct lookup_values {
    const struct str *texts;
    size_t n;
};
/* Query documents in which each of the n columns has one of its values. */
void lookup_query(struct buf *json, const struct lookup_term *terms,
                  const struct lookup_values *values, size_t n);

/*
 * Tell whether the routing of a join table's documents, and of those below, depends on this
 * column of their rows.
 */
bool lookup_places(const struct plan *p, struct str column);
/*
 * How to search the child plan's documents by the `_id`s of their parents, documents of p,
 * which decide their routing.  Returns false if the tables are not related so.
 */
bool lookup_children(const struct plan *p, const struct plan *child, struct arena *a,
                     struct lookup_term *out);

/* Find which part of the root's key the column is.  Returns false if none. */
bool lookup_root_column(const struct plan *p, struct str column, size_t *part);

#endif
