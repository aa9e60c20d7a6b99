/*
 * struct branch: one table at one place in a plan's tree; branch 0 is the root.
 *
 * What plan_compile() found out, for the loader and the resolver.  Immutable; lives in its
 * plan's arena, with which plan_free() ends it.
 */
#ifndef SYNC_DOCUMENT_BRANCH_H
#define SYNC_DOCUMENT_BRANCH_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/document/field.h"
#include "sync/model/transform.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct column;
struct membership;
struct schema;

/* A field and where its value is found. */
struct branch_field {
    struct field field;
    size_t at;           /* index into the columns that are read */
    struct str constant; /* JSON that stands for it in every document; empty: the column's */
    struct str name;     /* as the definition calls it; of one with transforms */
    struct transforms transforms;     /* none: the value is shown as it is */
    const struct branch_field *parts; /* columns whose texts are joined, instead of its own */
    size_t n_parts;
};

/*
 * A pair of columns that a row is found by: outer of the parent branch, inner of this one.  At
 * the root both are the key's column, and outer_at is not used.
 */
struct branch_join {
    const struct column *outer, *inner;
    size_t outer_at, inner_at; /* indexes into the columns that the two branches read */
};

struct branch {
    size_t number;
    const struct branch *parent; /* NULL: the root */
    struct str database;         /* the definition's name for it */
    size_t topic;                /* whose server it is on: index into the plan's topics */
    struct schema *schema;       /* a reference */
    struct str member;           /* "items": in the object above; empty: does not show */
    bool many;
    bool refresh;     /* a change of its rows rebuilds documents */
    bool alone;       /* or, if it can be, only the area that it is in */
    uint8_t area;     /* that one, from 1; 0: the whole document */
    bool leads;       /* it shows nothing: its rows say where the root's documents lie */
    bool by_key_alone; /* of an area's root: its key says all that is wanted of a row */
    struct str where; /* SQL condition of rows that count; empty: all */
    const struct membership *membership; /* of the root; NULL: its index is its own */

    /*
     * The link table between this branch and the one above, which is its parent then and does
     * not show; NULL: there is none.
     */
    const struct branch *link;

    /* Of an array's elements. */
    bool values;         /* each is the value of the one field instead of an object */
    bool distinct;       /* equal ones once */
    uint32_t limit;      /* at most so many; 0: all */
    struct str order_by; /* SQL, before the order of the key; empty: none */

    const struct column **read; /* the columns that are read, each once */
    size_t n_read;

    struct branch_field *fields;
    size_t n_fields;

    struct branch_join *joins; /* the root's: its document key */
    size_t n_joins;
    bool by_integer; /* one pair of integers: rows are matched by their text, without SQL */
    bool unique;     /* a key of joins has one row at most */

    /*
     * The table's rows by their primary key, as a branch of no columns below this one, for the
     * way up from a row whose joins are not known; NULL: the root, or no key that serves.
     */
    struct branch *by_row;

    const struct column **order; /* the key: the root's of its document, else the table's */
    size_t n_order;

    struct branch **children;
    size_t n_children;

    struct str select; /* `t`.`a`,`t`.`b`+0e0 … of the columns that are read */
    struct str from;   /* `schema`.`table` */
};

/*
 * The branch whose joins lead to b from the object that shows it: its link, or b itself.
 */
static inline const struct branch *branch_entry(const struct branch *b)
{
    return b->link != NULL ? b->link : b;
}

/* struct binding, for this room. */
struct binding {
    const struct branch *branch; /* borrowed from the plan */
    size_t *map;                 /* where each column that the branch reads lies in a row */
    size_t n_row;                /* columns of a row */
    size_t *key; /* where the columns of by_row lie in a row; NULL: they are not all there */
    const struct column *lacks; /* the first that rows have not, or have of another type */
};

/* struct plan, for this room. */
struct plan {
    struct arena *arena;
    struct branch *
        *branches; /* an array of its own: the root first, each before its children */
    size_t n_branches;

    /*
     * Parts of the document that are written alone: for each its name, and a root that shows
     * nothing but it.
     */
    struct branch **areas;
    struct str *area_names;
    size_t n_areas;
    struct str no_areas; /* why no document can be written in parts; empty: it can */
    struct str *topics; /* the root's first */
    size_t n_topics;
};

#endif
