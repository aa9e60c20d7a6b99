/*
 * struct found_roots: one query of the resolver and its answer: the roots for keys of related
 * rows, or the keys to continue with on another server.
 *
 * @thread one at a time; asking blocks
 */
#ifndef SYNC_DOCUMENT_FOUND_ROOTS_H
#define SYNC_DOCUMENT_FOUND_ROOTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan_node.h"
#include "sync/document/query_roots.h"
#include "sync/document/resolver.h"

#include <stdbool.h>
#include <stddef.h>

struct mysql_conn;

/* The root document for a key, or the key to continue with on another server. */
struct found_root {
    size_t row;         /* the number of its key in the query */
    size_t at, len;     /* in `bytes`: the root's key, or the top's join key */
    size_t routing_len; /* after it: the columns that route the root, as a key */
};

struct found_roots {
    struct mysql_conn *const *of;
    const struct plan_node *top; /* query_roots_top() of the query's node */
    struct query_roots query;
    const struct resolver_sink *sink;
    struct buf sql, id, routing;
    struct buf bytes; /* keys of the pairs, concatenated */
    struct found_root *pairs;
    size_t n_pairs, n_rows; /* rows of the answer; a row with an incomplete key makes no pair */
};

/* Rows named by some of their columns, as a node below theirs. */
struct found_roots_below {
    struct plan_node node;
    struct plan_join joins[RESOLVER_COLUMNS_MAX];
};
/* Where the way up from the rows begins: a node of the plan, or one made in *below. */
const struct plan_node *found_roots_node(const struct resolver_rows *rows,
                                         struct found_roots_below *below) RETURNS_NONNULL;

/* Borrows of and sink.  Asks for at most limit rows.  The caller sets the keys of query. */
void found_roots_init(struct found_roots *f, struct mysql_conn *const *of,
                      const struct plan_node *node, const struct resolver_sink *sink,
                      size_t limit);
void found_roots_fini(struct found_roots *f);

/* Send the query.  Its pairs are valid until the next one. */
bool found_roots_ask(struct found_roots *f, struct err *err) MUST_CHECK;

/*
 * Tell whether the pairs are not yet roots: their documents are behind tables on another
 * server.
 */
bool found_roots_lead_on(const struct found_roots *f);
/* Tell whether the answer reached the limit, so that there may be more. */
bool found_roots_is_full(const struct found_roots *f);
struct str found_roots_key(const struct found_roots *f, size_t i);
/*
 * Report the document of pair i to the sink's found(). numbers maps the query's keys to the
 * sink's numbers; NULL maps all to 0.  Returns false with ERR_STOP.
 */
bool found_roots_tell(struct found_roots *f, size_t i, const size_t *numbers,
                      struct err *err) MUST_CHECK;
/* Set ERR_STOP and return false. */
bool found_roots_stopped(struct err *err);

#endif
