/*
 * What becomes of the rows that foreign keys change by themselves, by the definitions alone:
 * which of them are followed, and which are not and why.
 *
 * @thread that of the connection; blocks
 */
#ifndef SYNC_CASCADE_REVIEW_H
#define SYNC_CASCADE_REVIEW_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"
#include "src/search.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct definitions;
struct mysql_conn;

/* A foreign key that changes rows which the documents of a table show. */
struct cascade_note {
    struct str table; /* of the documents: "shop.orders" */
    struct str key;
    struct str child; /* "shop.item" */
    struct str why;   /* they are not followed, and what to do; empty: they are */
    struct str fix;
    bool partly; /* some are not */
    bool on_update;    /* when a key that they refer to is updated; no delete does that */
    struct str column; /* the child's that no field shows; empty: it is not for that */
};

struct cascade_review {
    struct mysql_conn *conn;
    const struct definitions *definitions;
    struct str topic; /* whose tables */
    plan_schema_fn others; /* finds those of other topics; NULL: tables that show them are left out */
    void *others_ctx;
    struct engine engine;
};

/* In the arena.  Tables that do not fit the database are left out; none where the server logs
 * such changes (MySQL from 9.6 on). */
bool cascade_review(const struct cascade_review *r, struct arena *a, struct cascade_note **out,
                    size_t *n, struct err *err) MUST_CHECK;

#endif
