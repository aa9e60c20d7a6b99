/*
 * From a changed related row to the keys of the documents that hold it, over all levels.
 *
 * Works from the row's own values (old and new image) and SQL along the relation path, never by
 * searching the index.
 */
#ifndef SYNC_DOCUMENT_RESOLVER_H
#define SYNC_DOCUMENT_RESOLVER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
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

/*
 * Root documents of many changed rows of one place: found() is called for each pair (index of
 * the join key, root).  At most page root rows a statement are held in memory; runs to the end.
 * found returns false to stop early (shutdown): then ERR_STOP.
 */
typedef bool (*resolver_found_fn)(void *ctx, size_t join_key, struct str id, struct str key,
                                  struct str routing);
bool resolver_find(struct mysql_conn *c, const struct plan *p, size_t place,
                   const struct str *join_keys, size_t n, resolver_found_fn found, void *ctx,
                   struct err *err) MUST_CHECK;

/* The same of keys from resolver_row_key(); rows that are gone have no roots. */
bool resolver_find_of_rows(struct mysql_conn *c, const struct plan *p, size_t place,
                           const struct str *row_keys, size_t n, resolver_found_fn found,
                           void *ctx, struct err *err) MUST_CHECK;

#endif
