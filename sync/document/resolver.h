/*
 * From a changed related row to the keys of the documents that hold it, over all levels.
 *
 * Works from the row's own values (old and new image) and SQL along the relation path, never by
 * searching the index.  Where the path leads from one server to another, what was found on the one
 * is looked up on the other; `of` has a connection for each topic of the plan.
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
 * What is needed of a changed row to find its documents: the values of the join columns of that
 * place, encoded.  False when the row joins to nothing (NULL join column).
 */
bool resolver_join_key(const struct plan *p, size_t place, const struct binding *b,
                       const struct value *row, struct buf *join_key);

/*
 * Where the row image lacks join columns: the row's own key, by which resolver_find_of_rows()
 * finds what it is joined by now.  False when the image lacks that too, or the table has none.
 */
bool resolver_row_key(const struct plan *p, size_t place, const struct binding *b,
                      const struct value *row, struct buf *row_key);

/*
 * True when join_key already is the root's key, without SQL (order_item.order_id = orders.id);
 * then id, key and routing are appended.
 */
bool resolver_direct(const struct plan *p, size_t place, struct str join_key, struct buf *id,
                     struct buf *key, struct buf *routing);

/* A place of a plan, and the keys of rows there. */
struct resolver_rows {
    const struct plan *plan;
    size_t place; /* not 0 */
    bool by_row;  /* keys of resolver_row_key(), not of resolver_join_key(): rows that are gone
                     have no roots */
    const struct str *keys;
    size_t n;
};

/*
 * The documents of rows that lead to few: found() (routing empty, though the plan is routed: it
 * lies nowhere now) is called for each pair (index of the key,
 * root).  Keys that lead to more than RESOLVER_FEW are told by crowded(), as all are where keys
 * that are asked for together lead to RESOLVER_SOME: their documents are not looked for. Either
 * returns false to stop early (shutdown): then ERR_STOP.
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

/* How many of n keys one statement takes: at least one, at most RESOLVER_KEYS_MAX. */
#define RESOLVER_KEYS_MAX 500
size_t resolver_keys_max(const struct str *keys, size_t n);

/* How far pages have come; zero but for after: at the start of a page. */
struct resolver_cursor {
    struct buf after;  /* what the next page is asked for with; empty: it is the first */
    struct buf behind; /* of the page that was read: for resolver_after() */
    bool end;          /* there is no next page */
};

/*
 * The next documents of all rows together, whose keys one statement takes: at most limit, each
 * once, in the order of the root's key behind cursor->after, which is moved on.  found as above,
 * with key 0.
 *
 * Where the path leads over servers, a page has the documents of some of the rows on the next one;
 * documents may come more than once, and a page may have none before the end.
 */
bool resolver_page(struct mysql_conn *const *of, const struct resolver_rows *rows, size_t limit,
                   struct resolver_cursor *cursor, const struct resolver_sink *sink,
                   struct err *err) MUST_CHECK;
/* An `after` behind one root of the page that was read last; appended. */
void resolver_after(const struct resolver_cursor *cursor, struct str root_key, struct buf *after);

#endif
