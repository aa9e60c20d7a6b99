/*
 * All documents of an index that match a query, by ids and routings, a page at a time.
 *
 * What is found is what the index showed when the search began (a scroll); it is kept by the
 * engine for two minutes after each page.
 *
 * @thread one at a time; every call blocks
 */
#ifndef SRC_SEARCH_PAGES_H
#define SRC_SEARCH_PAGES_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/search.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* A document: its `_id`, and its routing, empty where it has none. */
struct search_hit {
    struct str id, routing;
};

/* Zero to begin with; end with search_pages_close(). */
struct search_pages {
    struct search *search;
    struct buf scroll; /* the engine's name for what it keeps */
    bool end;
};

/* query: JSON.  Pages have at most size hits. */
bool search_pages_open(struct search_pages *p, struct search *s, struct str index,
                       struct str query, size_t size, struct arena *a,
                       struct search_hit **hits, size_t *n, struct err *err) MUST_CHECK;
/* The next page, in the arena; *n is 0 behind the last one. */
bool search_pages_next(struct search_pages *p, struct arena *a, struct search_hit **hits,
                       size_t *n, struct err *err) MUST_CHECK;
void search_pages_close(struct search_pages *p);

#endif
