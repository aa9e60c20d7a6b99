/*
 * The resolver: from a changed related row to the keys of the documents that hold it.
 *
 * It starts from the row's values (of the old and of the new image) and follows the relations
 * up to the root with SQL, over all levels.  It never searches the index.  If the way leads to
 * another server, the resolver reads the first part there and sends the values to the second.
 *
 * In all calls, `of` has one connection for each topic of the plan, in the plan's order.
 *
 * @thread any, one at a time for each connection
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
 * Append to join_key the values of the row's join columns at this place: they find the row's
 * documents.  Returns false if a join column is NULL, because then the row joins nothing.
 */
bool resolver_join_key(const struct plan *p, size_t place, const struct binding *b,
                       const struct value *row, struct buf *join_key);

/*
 * For a row image that lacks join columns: append the row's own key to row_key.
 * resolver_find() reads the present join values by it.  Returns false if the image lacks the
 * key, too, or the table has none.
 */
bool resolver_row_key(const struct plan *p, size_t place, const struct binding *b,
                      const struct value *row, struct buf *row_key);

/*
 * If join_key is the root's key already (order_item.order_id = orders.id), append the
 * document's id, key and routing and return true.  Sends no SQL.
 */
bool resolver_direct(const struct plan *p, size_t place, struct str join_key, struct buf *id,
                     struct buf *key, struct buf *routing);

/*
 * What the keys of a place's rows consist of:
 * - RESOLVER_BY_JOIN: values of the join columns, from resolver_join_key().  Not at the root.
 * - RESOLVER_BY_ROW: the row's own key, from resolver_row_key().
 * - RESOLVER_BY() bits: values of some join columns (at the root: key columns), one bit each.
 * The last two read the row itself, so they find nothing for rows that are gone.
 */
enum { RESOLVER_BY_JOIN = 0, RESOLVER_BY_ROW = 1 };
#define RESOLVER_BY(column)  (2U << (column))
#define RESOLVER_COLUMNS_MAX 31

/*
 * Returns the RESOLVER_BY bits of the columns that have one of these names, in any case; 0 for
 * none.  A key lists its values in the plan's order of columns: which[] gets, in that order,
 * the index of each column in names.
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
 * Find the documents of the rows.  Calls found() for each pair of a key's index and a document.
 * The routing is empty if the plan is routed but the document has no place now.  For a key with
 * more than RESOLVER_FEW documents, calls crowded() once instead; also for each key of a
 * statement whose keys have RESOLVER_SOME documents together.  A callback that returns false
 * (shutdown) ends the call with ERR_STOP.  Blocks on the servers.
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

/* Count how many of the first keys fit into one statement: 1 to RESOLVER_KEYS_MAX. */
#define RESOLVER_KEYS_MAX 500
size_t resolver_keys_max(const struct str *keys, size_t n);

/* How far paging has come.  Before each page, the caller clears all but `after`. */
struct resolver_cursor {
    struct buf after;  /* the next page starts after this; empty: the first page */
    struct buf behind; /* what resolver_after() needs of the page just read */
    bool end;          /* there is no next page */
};

/*
 * Read the next page of the documents of all rows together: at most limit, each once, in the
 * order of their root keys, beginning after cursor->after, which advances.  The keys must fit
 * into one statement.  Calls found() as above, with key index 0.  Blocks on the servers.
 *
 * If the way crosses servers, a page covers only some of the rows on the next server. Documents
 * may then repeat, and a page before the end may be empty.
 */
bool resolver_page(struct mysql_conn *const *of, const struct resolver_rows *rows, size_t limit,
                   struct resolver_cursor *cursor, const struct resolver_sink *sink,
                   struct err *err) MUST_CHECK;
/* Append to after the place behind one root of the page just read. */
void resolver_after(const struct resolver_cursor *cursor, struct str root_key,
                    struct buf *after);

#endif
