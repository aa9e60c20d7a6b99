/*
 * struct found_roots: one statement of the resolver and its answer: the roots behind keys of
 * related rows, or what leads on to them on another server.
 *
 * @thread one at a time; asking blocks
 */
#ifndef SYNC_DOCUMENT_FOUND_ROOTS_H
#define SYNC_DOCUMENT_FOUND_ROOTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/query_roots.h"

#include <stdbool.h>
#include <stddef.h>

struct branch;
struct mysql_conn;
struct resolver_rows;
struct resolver_sink;

/* A root document of a key, or what leads on to it on another server. */
struct found_root {
    size_t row;         /* the number of its key in the statement */
    size_t at, len;     /* the root's key, or the top's join key, in the answer's bytes */
    size_t routing_len; /* behind it: the columns that the root is routed by, as a key */
};

struct found_roots {
    struct mysql_conn *const *of;
    const struct branch *top; /* query_roots_top() of the statement's branch */
    struct query_roots query;
    const struct resolver_sink *sink;
    struct buf sql, id, routing;
    struct buf bytes; /* keys of the pairs, one behind the other */
    struct found_root *pairs;
    size_t n_pairs, n_rows; /* a row without a whole key is no pair */
};

/* Where the way up from the rows begins. */
const struct branch *found_roots_branch(const struct resolver_rows *rows) RETURNS_NONNULL;

/* of and sink are borrowed; at most limit rows are asked for.  query's keys are the caller's to
 * set. */
void found_roots_init(struct found_roots *f, struct mysql_conn *const *of,
                      const struct branch *branch, const struct resolver_sink *sink,
                      size_t limit);
void found_roots_fini(struct found_roots *f);

/* Send the query; the pairs are those of its answer, until the next. */
bool found_roots_ask(struct found_roots *f, struct err *err) MUST_CHECK;

/* They are no roots yet: their documents are behind tables on another server. */
bool found_roots_lead_on(const struct found_roots *f);
/* There may be more than were asked for. */
bool found_roots_is_full(const struct found_roots *f);
struct str found_roots_key(const struct found_roots *f, size_t i);
/* To the sink's found(), the document of pair i; numbers: of the statement's keys, as the sink
 * counts them; NULL: all are 0.  False: ERR_STOP. */
bool found_roots_tell(struct found_roots *f, size_t i, const size_t *numbers,
                      struct err *err) MUST_CHECK;
/* False, with ERR_STOP. */
bool found_roots_stopped(struct err *err);

#endif
