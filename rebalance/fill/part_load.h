/*
 * Read the documents of a part of a delayed run, a page at a time.
 */
#ifndef REBALANCE_FILL_PART_LOAD_H
#define REBALANCE_FILL_PART_LOAD_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct arena;
struct fill_part;
struct loader_page;
struct level_keys;
struct mysql_conn;
struct target;
struct top_relation;

/* What a part reads. */
struct part_reading {
    const struct fill_part *part;
    const struct top_relation *top; /* with part->by_level */
    const struct target *target;
    struct level_keys *known; /* with part->by_level: of the pages before */
};
/*
 * As loader_load_range(), but the page's `after` and `next` are places in the part, and so is
 * its end: a page may have no document and not be the last.  `of` has one connection for each
 * topic of the target's plan.  Blocks on the servers.
 */
bool part_load(struct mysql_conn *const *of, const struct part_reading *from,
               struct loader_page *page, struct arena *a, struct err *err) MUST_CHECK;

#endif
