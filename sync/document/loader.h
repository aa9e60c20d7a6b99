/*
 * Loading documents by key: many keys in one statement, one statement per relation level.
 *
 * Rows are matched to requests by SQL or by exact integers, never by comparing text bytes, as
 * collations differ.  The caller has opened the reads that make the stamp true (design part 7,
 * rule 4), one for each topic of the plan, in that order; the loader only SELECTs.
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
    struct str body; /* in the arena; ptr NULL: the row is gone, filtered, or not rooted */
    bool rooted;     /* it is known where its document lies, or the row is gone */
    bool rootless;   /* not rooted, though it has a parent's key */
    bool placed;     /* the row is there, and lies by that routing: as a document, or with its err
                        as a dead letter alone */
    struct err *err; /* this document alone cannot be built (ERR_REJECT); else NULL */
};

/*
 * Keys as made by plan_root_id(); out has one element for each, in the same order.  ERR_REJECT:
 * what the server refuses, also for one of their rows, or they do not fit into memory at once;
 * fewer may.
 */
bool loader_load(struct mysql_conn *const *of, const struct plan *p, const struct str *keys, size_t n,
                 struct arena *a, struct loaded *out, struct err *err) MUST_CHECK;

/*
 * The same of one area, from 1: a body is the JSON of that member, and nothing else of the
 * document is read; id and key are not set.  Where the document's key alone leads to the area,
 * not even its row is: it has a body then also where the row is gone.
 */
bool loader_load_area(struct mysql_conn *const *of, const struct plan *p, uint8_t area,
                      const struct str *keys, size_t n, struct arena *a, struct loaded *out,
                      struct err *err) MUST_CHECK;

/*
 * The next at most limit documents in key order after `after` (empty: from the start).
 * *out is in the arena; *n < limit means the end.  out[n-1].key is the next `after`.
 * ERR_REJECT: as of loader_load(); a single one that does not fit is handed out with its err.
 */
bool loader_load_range(struct mysql_conn *const *of, const struct plan *p, struct str after,
                       size_t limit, struct arena *a, struct loaded **out, size_t *n,
                       struct err *err) MUST_CHECK;

/* SELECT COUNT(*) of the root rows that count, on its topic's server. */
bool loader_count(struct mysql_conn *c, const struct plan *p, uint64_t *count,
                  struct err *err) MUST_CHECK;

/* How many of them have one of the keys. */
bool loader_count_keys(struct mysql_conn *c, const struct plan *p, const struct key_set *keys,
                       uint64_t *count, struct err *err) MUST_CHECK;

#endif
