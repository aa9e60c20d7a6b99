/*
 * struct plan_node: one table at one place in a plan's tree; node 0 is the root.
 *
 * plan_compile() makes nodes for the loader and the resolver.  Immutable; lives in the
 * plan's arena until plan_free().
 */
#ifndef SYNC_DOCUMENT_PLAN_NODE_H
#define SYNC_DOCUMENT_PLAN_NODE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/definition/transform.h"
#include "sync/document/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct column;
struct membership;
struct schema;

/* A field and where to find its value. */
struct plan_field {
    struct field field;
    size_t at;           /* index into the columns read */
    struct str constant; /* JSON constant for every document; empty: use the column */
    struct str name;     /* the name in the definition; set for fields with transforms */
    struct transforms transforms;   /* none: show the value as it is */
    const struct plan_field *parts; /* join the texts of these columns instead of its own */
    size_t n_parts;
};

/*
 * A pair of columns that finds rows: outer of the parent node, inner of this one.  At the
 * root both are the key's column, and outer_at is unused.
 */
struct plan_join {
    const struct column *outer, *inner;
    size_t outer_at, inner_at; /* indexes into the columns that the two nodes read */
};

struct plan_node {
    size_t number;
    const struct plan_node *parent; /* NULL for the root */
    struct str database;            /* its name in the definition */
    size_t topic;          /* index into the plan's topics: the server that has the table */
    struct schema *schema; /* a reference */
    struct str member;     /* "items": in the object above; empty if not shown */
    bool many;
    bool refresh;      /* a change of its rows rebuilds documents */
    bool alone;        /* ... or, if possible, only their area */
    uint8_t area;      /* that area, from 1; 0 for the whole document */
    bool leads;        /* shows nothing: its rows decide the routing of the root's documents */
    bool by_key_alone; /* root of an area: its key tells all that we need of a row */
    struct str where;  /* SQL condition that rows must meet; empty for all rows */
    const struct membership *membership; /* of the root; NULL if its index is not shared */

    /*
     * The link table between this node and the one above.  The link is then the parent, and
     * is not shown.  NULL if there is none.
     */
    const struct plan_node *link;

    /* For the elements of an array. */
    bool values;         /* each is the value of the only field, not an object */
    bool distinct;       /* leave out duplicates */
    uint32_t limit;      /* the most elements; 0 for all */
    struct str order_by; /* SQL, sorts before the key; empty if none */

    const struct column **read; /* the columns to read, each once */
    size_t n_read;

    struct plan_field *fields;
    size_t n_fields;

    struct plan_join *joins; /* for the root: its document key */
    size_t n_joins;
    bool by_integer; /* one pair of integers: match rows by their text, without SQL */
    bool unique;     /* a key of joins has at most one row */

    /*
     * The table's rows by primary key, as a node without columns below this one: the way up
     * from a row whose join values are unknown.  NULL for the root, or if there is no usable
     * key.
     */
    struct plan_node *by_row;

    const struct column *
        *order; /* sort key: for the root its document key, else the table's key */
    size_t n_order;

    struct plan_node **children;
    size_t n_children;

    struct str select; /* `t`.`a`,`t`.`b`+0e0 …: the columns to read */
    struct str from;   /* `schema`.`table` */
};

/* The node whose joins lead from the showing object to b: its link, or b itself. */
static inline const struct plan_node *plan_node_entry(const struct plan_node *b)
{
    return b->link != NULL ? b->link : b;
}

/* struct binding, for this folder only. */
struct binding {
    const struct plan_node *node; /* borrowed from the plan */
    size_t *map;                  /* index in a row of each column that the node reads */
    size_t n_row;                 /* columns in a row */
    size_t *key; /* indexes in a row of by_row's columns; NULL if some are missing */
    const struct column *lacks; /* the first column that rows lack or have with another type */
};

/* struct plan, for this folder and the one below it only. */
struct plan {
    struct arena *arena;
    struct plan_node **nodes; /* separate array: the root first, parents before children */
    size_t n_nodes;

    /*
     * Parts of the document that are written alone: for each its name, and a root that shows
     * only that part.
     */
    struct plan_node **areas;
    struct str *area_names;
    size_t n_areas;
    struct str no_areas; /* why documents cannot be written in parts; empty if they can */
    struct str *topics;  /* the root's first */
    size_t n_topics;
};

#endif
