/*
 * Tells who owns an index of the search engine, by the mark in its mapping and by the store.
 *
 * Every index that Millrace makes carries the id of its store, which all daemons of one cluster
 * share. Millrace never writes to an index with another id or none, and takes no alias from it
 * unless a person says so.
 */
#ifndef REBALANCE_WATCH_WHOSE_H
#define REBALANCE_WATCH_WHOSE_H

#include "rebalance/watch/engine_facts.h"
#include "rebalance/watch/stored_facts.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;

enum whose {
    WHOSE_LIVE,      /* a version of ours that changes are written to */
    WHOSE_OLD,       /* a version of ours that another one has replaced */
    WHOSE_FORGOTTEN, /* made by this store, which has no record of it */
    WHOSE_OTHER,     /* made by another store */
    WHOSE_UNMARKED,  /* made by a Millrace that marked no owner, and not known here */
    WHOSE_FOREIGN,   /* not made by Millrace */
    N_WHOSE,
};

/* index: it has the alias, or is a version of the alias. */
enum whose whose_index(const struct stored_facts *s, struct str alias,
                       const struct engine_index *index);
/* Append "belongs to another store of Millrace (…, topic shop)". */
void whose_append(struct buf *b, enum whose whose, const struct engine_index *index);
/*
 * Returns the option that lets a build take the alias from it, with a leading space; "" if it
 * needs none.
 */
const char *whose_option(enum whose whose);

/* "orders_v2" -> 2; 0: not a version of the alias. */
uint64_t whose_version(struct str alias, struct str index);
/* "orders", 2 -> "orders_v2" */
struct str whose_name(struct arena *a, struct str alias, uint64_t number);

/* What a person allows a build to take. */
struct take {
    bool index; /* indexes of another store */
    bool alias; /* indexes that Millrace did not make */
};

/* The index that stands in the way. whose is N_WHOSE if an index has the alias's name. */
struct claim {
    enum whose whose;
    const struct engine_index *index; /* NULL: nothing stands in the way */
};

/*
 * Find what prevents a version of this store from having the alias, apart from what `take`
 * allows. The facts must cover the alias and ALIAS_v*. While no index of ours has the alias, a
 * version that another store is still building counts, too.
 */
struct claim whose_claim(const struct stored_facts *s, const struct engine_facts *f,
                         struct str alias, const struct take *take);
/* Append what stands in the way to *reason, and what to do about it to *fix. */
void whose_append_claim(const struct claim *c, struct str alias, struct str table,
                        struct buf *reason, struct buf *fix);

#endif
