/*
 * From a changed related row to the keys of the documents that hold it, over all levels.
 *
 * Uses the row's own values (old and new image) and SQL along the relation path, and never
 * searches the index.  If the path leads to another server, the resolver looks up there what it
 * found on the first.  `of` has a connection per topic of the plan.
 */
#ifndef SYNC_DOCUMENT_RESOLVER_H
#define SYNC_DOCUMENT_RESOLVER_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct mysql_conn;

/*
 * Encode the values of the row's join columns at this place, which find its documents.  Returns
 * false if a join column is NULL: the row joins nothing.
 */
bool resolver_join_key(const struct plan *p, size_t place, const struct binding *b,
                       const struct value *row, struct buf *join_key);

/*
 * For a row image that lacks join columns: encode the row's own key, from which resolver_find()
 * gets the present join values.  Returns false if the image lacks that too, or the table has no
 * key.
 */
bool resolver_row_key(const struct plan *p, size_t place, const struct binding *b,
                      const struct value *row, struct buf *row_key);

/*
 * Returns true if join_key already is the root's key (order_item.order_id = orders.id), without
 * SQL; then appends id, key and routing.
 */
bool resolver_direct(const struct plan *p, size_t place, struct str join_key, struct buf *id,
                     struct buf *key, struct buf *routing);

/*
 * How keys name the rows of a place: values from resolver_join_key() (not at the root), from
 * resolver_row_key(), or of some of the join columns (at the root: of the key columns), one bit
 * per column.  The last two find no roots for rows that are gone.
 */
enum { RESOLVER_BY_JOIN = 0, RESOLVER_BY_ROW = 1 };
#define RESOLVER_BY(column)  (2U << (column))
#define RESOLVER_COLUMNS_MAX 31

/*
 * Returns the RESOLVER_BY bits of the columns with one of these names, ignoring case; 0 if
 * there are none. which gets, in the order of values in a key, the index of each column's name.
 */
unsigned resolver_by_columns(const struct plan *p, size_t place, const struct str *names,
                             size_t n, size_t which[RESOLVER_COLUMNS_MAX], size_t *n_which);

/* A place of a plan, and the keys of rows there. */
struct resolver_rows {
    const struct plan *plan;
    size_t place;
    unsigned by;
    const struct str *keys;
    size_t n;
};

/*
 * Calls found() for each (key index, document) pair; its routing is empty if the plan is routed
 * but the document has no place now.  For a key with more than RESOLVER_FEW documents, calls
 * crowded() instead; also for all keys of a statement that together have RESOLVER_SOME.  Either
 * callback may return false to stop (shutdown), which gives ERR_STOP.
 */
#define RESOLVER_FEW  1000
#define RESOLVER_SOME 4000
struct resolver_sink {
    bool (*found)(void *ctx, size_t key, struct str id, struct str root_key,
                  struct str routing);
    bool (*crowded)(void *ctx, size_t key);
    void *ctx;
};
bool resolver_find(struct mysql_conn *const *of, const struct resolver_rows *rows,
                   const struct resolver_sink *sink, struct err *err) MUST_CHECK;

/* How many of the n keys fit into one statement: from 1 to RESOLVER_KEYS_MAX. */
#define RESOLVER_KEYS_MAX 500
size_t resolver_keys_max(const struct str *keys, size_t n);

/* The progress of paging.  At the start of a page, all but after must be zero. */
struct resolver_cursor {
    struct buf after;  /* where the next page starts; empty: at the first */
    struct buf behind; /* of the page just read: for resolver_after() */
    bool end;          /* there is no next page */
};

/*
 * Get the next documents of all rows together, at most limit, each once, in the order of root
 * keys after cursor->after, which advances.  The keys must fit into one statement.  Calls found
 * as above with key 0.
 *
 * If the path crosses servers, a page covers some of the rows on the next server: documents may
 * repeat, and a page before the end may be empty.
 */
bool resolver_page(struct mysql_conn *const *of, const struct resolver_rows *rows, size_t limit,
                   struct resolver_cursor *cursor, const struct resolver_sink *sink,
                   struct err *err) MUST_CHECK;
/* Append an `after` that continues past one root of the page just read. */
void resolver_after(const struct resolver_cursor *cursor, struct str root_key,
                    struct buf *after);

#endif
