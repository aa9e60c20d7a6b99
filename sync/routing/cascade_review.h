/*
 * What happens to rows that foreign keys change by themselves, judged by the definitions: which
 * are followed, and which are not and why.
 *
 * @thread the connection's; blocks
 */
#ifndef SYNC_ROUTING_CASCADE_REVIEW_H
#define SYNC_ROUTING_CASCADE_REVIEW_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/search/search.h"
#include "sync/document/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct definitions;
struct mysql_conn;
struct schemas;

/* A foreign key that changes rows shown in a table's documents. */
struct cascade_note {
    struct str table; /* of the documents: "shop.orders" */
    struct str key;
    struct str child; /* "shop.item" */
    struct str why;   /* why they are not followed, and what to do; empty if they are */
    struct str fix;
    bool partly;    /* only some are not followed */
    bool on_update; /* concerns only updates of a referenced key, no delete */
    struct str
        column; /* the child's column that no field shows; empty if that is not the reason */
};

struct cascade_review {
    struct mysql_conn *conn;
    const struct definitions *definitions;
    struct str topic;        /* review its tables */
    struct schemas *schemas; /* of the topic; tables that show others which these do not find
                                are left out */
    struct engine engine;
};

/*
 * Allocates in the arena.  Leaves out tables that do not fit the database.  Finds none if the
 * server logs such changes (MySQL from 9.6 on).
 */
bool cascade_review(const struct cascade_review *r, struct arena *a, struct cascade_note **out,
                    size_t *n, struct err *err) MUST_CHECK;

#endif
