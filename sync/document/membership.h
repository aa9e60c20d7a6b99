/*
 * struct membership: what a document of a shared index has besides its row: a prefix of its
 * `_id`, the join field or the name of its source, and a routing.
 *
 * Documents of one join are routed by the root's `_id`.  On the second level, columns of the
 * row itself make up that `_id`, so row images tell where the document is and was.  Below,
 * statements look up the root over the row's parents; columns of the row itself tell it only if
 * its parent is missing or has no root.  A row whose parent or root is unknown has no document.
 *
 * Immutable; lives in its plan's arena.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_MEMBERSHIP_H
#define SYNC_DOCUMENT_MEMBERSHIP_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct plan_node;
struct buf;
struct column;
struct value;

/* Another document, and the columns of this row that hold its key. */
struct membership_link {
    struct str prefix;             /* of its `_id` */
    const struct column **columns; /* none: there is no such document */
    size_t *at;                    /* their indexes among the columns read */
    size_t n;
};

/* A table between the row and its root. */
struct membership_ancestor {
    const struct plan_node *node; /* its place, below that of its child */
    const struct column **root;   /* the columns with its root's key; for the highest, its
                                     parent's; root.n of them */
};

struct membership {
    struct str prefix;  /* "answer:" */
    struct str members; /* after the row's members: "join":{"name":"answer","parent": */
    struct str ends;    /* after the parent's `_id`, as JSON */
    struct membership_link parent;
    struct membership_link root;           /* none: the document is its own root */
    struct membership_ancestor *ancestors; /* the row's parent first */
    size_t n_ancestors;                    /* 0 if the row's own columns tell its root */
    bool routed;
    struct str field, parent_name; /* of the join: its field, and the parent's name in it */
};

/* Returns "NAME:", so that ids of different tables never collide. */
struct str membership_prefix(struct arena *a, struct str name);

/*
 * Tell whether the row has a document: its parent and root are known as far as needed. map is
 * as for row_document_members().
 */
bool membership_is_rooted(const struct membership *m, const size_t *map,
                          const struct value *row);

/* The same, without regard to the root. */
bool membership_has_parent(const struct membership *m, const size_t *map,
                           const struct value *row);

/* Append the members that every document of a shared index has.  The row must be rooted. */
bool membership_append_members(const struct membership *m, const size_t *map,
                               const struct value *row, struct buf *json,
                               struct err *err) MUST_CHECK;

/*
 * Append the routing of the rooted row's document with this id; nothing if its index is not
 * routed.  ERR_REJECT if the key of its parent or root makes no `_id`, so that the document has
 * no place.
 */
bool membership_append_routing(const struct membership *m, const size_t *map,
                               const struct value *row, struct str id, struct buf *routing,
                               struct err *err) MUST_CHECK;

#endif
