/*
 * Reads the ids and routings of all documents of an index that match a query, page by page.
 *
 * The result is a snapshot of the index from the start of the search (a scroll). The engine
 * keeps it for two minutes after each page.
 *
 * @thread one at a time; every call blocks
 */
#ifndef SRC_SEARCH_PAGES_H
#define SRC_SEARCH_PAGES_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/search/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A document: its `_id`, its routing (empty if none) and its version. */
struct search_hit {
    struct str id, routing;
    uint64_t version;
};

/* Part number `at`, from 0, of n parts of an index. */
struct search_slice {
    size_t at, n;
};
#define SEARCH_WHOLE ((struct search_slice){0, 1})

/* Zero-initialise; end with search_pages_close(). */
struct search_pages {
    struct search *search;
    struct buf scroll; /* the engine's id of the scroll */
    bool end;
};

/*
 * query is JSON. A page has at most size hits. With as many slices as
 * the index has shards, each is a shard, which costs the engine nothing.
 */
bool search_pages_open(struct search_pages *p, struct search *s, struct str index,
                       struct str query, size_t size, struct search_slice slice,
                       struct arena *a, struct search_hit **hits, size_t *n,
                       struct err *err) MUST_CHECK;
/* Reads the next page into the arena. Sets *n to 0 after the last one. */
bool search_pages_next(struct search_pages *p, struct arena *a, struct search_hit **hits,
                       size_t *n, struct err *err) MUST_CHECK;
void search_pages_close(struct search_pages *p);

#endif
