/*
 * Load documents by key: many keys per statement, one statement per relation level.
 *
 * Matches rows to requests in SQL or by exact integers, never by text bytes, because collations
 * differ.  The caller must have opened the reads that make the stamp true (docs/rules.md, rule
 * 4), one per topic of the plan, in that order; the loader only SELECTs.
 */
#ifndef SYNC_DOCUMENT_LOADER_H
#define SYNC_DOCUMENT_LOADER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct key_set;
struct mysql_conn;

struct loaded {
    struct str id, routing, key; /* in the arena */
    struct str
        body;      /* in the arena; ptr NULL if the row is gone, filtered out, or not rooted */
    bool rooted;   /* the document's routing is known, or the row is gone */
    bool rootless; /* not rooted, though it has a parent's key */
    bool placed; /* the row exists and lies at that routing, as a document or, with err, only as
                    a dead letter */
    struct err *err; /* why this one document cannot be built (ERR_REJECT); else NULL */
    bool left;       /* not loaded: the documents before it took bytes_max */
};

/* What to load by key. */
struct loader_keys {
    const struct str *keys; /* from plan_root_id() */
    size_t n;
    uint8_t area;     /* from 1: load only this area; 0: whole documents */
    size_t bytes_max; /* as in struct loader_page, but what does not fit is left */
    /* Set: */
    size_t bytes; /* that loading took, of bytes_max */
};

/*
 * Load n documents; out gets one element each, in the same order.  ERR_REJECT if the server
 * refuses the read, perhaps because of a single row, or the batch exceeds memory: a smaller
 * batch may succeed.  Leaves some only if it loads others, or finds that they are gone.
 *
 * Of an area, body is the JSON of that member; id and key are not set.  If the document's key
 * alone leads to the area, the root's row is not read, and body is set even if that row is
 * gone.
 */
bool loader_load(struct mysql_conn *const *of, const struct plan *p, struct loader_keys *keys,
                 struct arena *a, struct loaded *out, struct err *err) MUST_CHECK;

/*
 * Which part of a table is read, and in which order.  All zero: the whole table, by key.
 *
 * A place in the order is opaque, and may come from the store.  A page ends at one, and so does
 * a bucket (sync/bucket/borders.h).
 */
struct loader_bucket {
    struct str by; /* a column of numbers or times: rows come in the order of its values, NULLs
                      first, then of the key; empty: of the key alone */
    struct str index; /* the index that has this order; empty: the server chooses one */
    struct str until; /* the bucket's last place; empty: to the end */
};

/* A page of documents, in key order unless the bucket has another. */
struct loader_page {
    struct loader_bucket bucket;
    struct str after; /* the place at which the page before, or the bucket before, ended; empty:
                         from the start */
    struct str where; /* a condition that rows must meet beside the plan's; empty: none */
    bool is_last;     /* the last rows, the greatest key first; `after` is empty then */
    size_t rows_max;
    size_t bytes_max; /* of the root rows' cells; all else may take four times as much.  One
                         document alone may take what it needs.  0: no limit */
    /* Set: */
    struct loaded *docs; /* in the arena */
    size_t n;            /* if the load fails: rows read */
    struct str next;     /* the next `after`, in the arena; in key order docs[n - 1].key */
    bool is_end;         /* no further rows, of the bucket */
};

/*
 * Load the next documents, as many as fit but at least one.  ERR_REJECT as in loader_load(),
 * but a single document too large for memory is returned with its err; also if a place is
 * none of this order, or the table lacks the column or the index.
 */
bool loader_load_range(struct mysql_conn *const *of, const struct plan *p,
                       struct loader_page *page, struct arena *a, struct err *err) MUST_CHECK;

/* Count the root rows that pass the filter with SELECT COUNT(*), on the topic's server. */
bool loader_count(struct mysql_conn *c, const struct plan *p, uint64_t *count,
                  struct err *err) MUST_CHECK;

/*
 * Append the least and the greatest key of the root's rows, as texts, if the key is one
 * integer; nothing if it is not, or the table is empty. Costs the server two looks at an index.
 */
bool loader_bounds(struct mysql_conn *c, const struct plan *p, struct buf *least,
                   struct buf *greatest, struct err *err) MUST_CHECK;

/*
 * Tell for each key, as in loader_load(), whether its row passes the filter and has a place:
 * sets only `placed` and `left`. Reads no related rows: there should be some hundred keys.
 */
bool loader_find_keys(struct mysql_conn *c, const struct plan *p, struct loader_keys *k,
                      struct loaded *out, struct err *err) MUST_CHECK;

/* Count those of them that have one of the keys. */
bool loader_count_keys(struct mysql_conn *c, const struct plan *p, const struct key_set *keys,
                       uint64_t *count, struct err *err) MUST_CHECK;

#endif
