/*
 * struct membership: what a document has besides its row where several tables share an index:
 * a prefix of its `_id`, the join field or the name of its source, and a routing.
 *
 * Documents of one join lie where their root does: routing is the root's `_id`.  On the second
 * level that is made of columns of the row itself, so that its images say where the document
 * is, and was.  Below, the root is the one that the row's parents lead to, which statements
 * look up; columns of the row's own say it only where its parent is not there, or has none
 * itself.  A row whose parent or root is not known has no document.
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
struct branch;
struct buf;
struct column;
struct value;

/* Another document, by columns of this row that hold its key. */
struct membership_link {
    struct str prefix;             /* of its `_id` */
    const struct column **columns; /* none: there is no such document */
    size_t *at;                    /* where they lie among the columns that are read */
    size_t n;
};

/* A table between the row and its root. */
struct membership_ancestor {
    const struct branch *branch; /* its place, below that of its child */
    const struct column **root;  /* hold its root's key, of the highest: its parent's; root.n */
};

struct membership {
    struct str prefix;  /* "answer:" */
    struct str members; /* behind the row's own: "join":{"name":"answer","parent": */
    struct str ends;    /* behind the parent's `_id`, as JSON */
    struct membership_link parent;
    struct membership_link root; /* none: the document itself */
    struct membership_ancestor *ancestors; /* the row's parent first */
    size_t n_ancestors;                    /* 0: columns of the row tell its root */
    bool routed;
    struct str field, parent_name; /* of the join: its field, what the parent is called in it */
};

/* "NAME:", so that no other name and key give the same text. */
struct str membership_prefix(struct arena *a, struct str name);

/* Whether the row has a document, as far as its parent and root are known.  map: as for
 * row_document_members(). */
bool membership_is_rooted(const struct membership *m, const size_t *map,
                          const struct value *row);

/* The same, but for its root. */
bool membership_has_parent(const struct membership *m, const size_t *map,
                           const struct value *row);

/* The members that every document of it has; the row is rooted. */
bool membership_append_members(const struct membership *m, const size_t *map,
                               const struct value *row, struct buf *json,
                               struct err *err) MUST_CHECK;

/* The routing of the rooted row's document, whose `_id` is id; nothing where its index needs none.
 * ERR_REJECT: its parent's or its root's key makes no `_id`, so the document has no place. */
bool membership_append_routing(const struct membership *m, const size_t *map,
                               const struct value *row, struct str id, struct buf *routing,
                               struct err *err) MUST_CHECK;

#endif
