/*
 * Searches for documents that foreign keys changed, of an index version that is being built
 * (sync/related/cascade/cascades.h).
 *
 * Other nodes fill the version, and nobody here knows when a row that they have read is
 * written. So each search is kept before the index is asked, and the build asks once more when
 * all rows are written.  They go with the build's jobs.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_LATER_KEPT_SEARCH_H
#define SRC_STORE_LATER_KEPT_SEARCH_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;
struct version_name;

struct kept_search {
    uint64_t id;       /* assigned by the store */
    struct str index;  /* alias */
    uint64_t version;  /* index version number */
    struct str member; /* the table whose documents are searched: "shop.orders" */
    bool down;         /* documents below them in their join, too */
    struct str query;  /* JSON */
};

/* The owner of the topic; ERR_STOP if the term is no longer the latest. */
struct kept_search_owner {
    struct str topic;
    uint64_t term;
};

/* Store all or none, but for those of a version that is no longer written to. */
bool store_keep_searches(struct store *s, const struct kept_search_owner *owner,
                         const struct kept_search *list, size_t n, struct err *err) MUST_CHECK;
/* Load the version's first `limit` searches after after_id, by id. */
bool store_load_searches(struct store *s, struct arena *a, const struct version_name *v,
                         uint64_t after_id, size_t limit, struct kept_search **out, size_t *n,
                         struct err *err) MUST_CHECK;

#endif
