/*
 * What the search engine has: indexes, their aliases, and the mark that Millrace keeps in a
 * mapping's _meta ("_millrace": owner, topic, log identity, epoch and version).
 *
 * One request asks for many names and waits a few seconds at most. The results live in the
 * caller's arena.
 */
#ifndef REBALANCE_WATCH_ENGINE_FACTS_H
#define REBALANCE_WATCH_ENGINE_FACTS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct search;

struct engine_mark {
    struct str owner; /* store id; empty: made before Millrace marked owners */
    struct str topic, log;
    uint64_t epoch, version;
};

struct engine_index {
    struct str name;
    struct str meta; /* its _meta as JSON; empty: none */
    struct engine_mark mark;
    bool is_marked; /* Millrace made it */
};

/* One alias of one index. */
struct engine_holder {
    struct str alias;
    struct str index;
};

/* Both lists are sorted by name. */
struct engine_facts {
    struct engine_index *indexes;
    size_t n_indexes;
    struct engine_holder *holders;
    size_t n_holders;
};

/* Returns NULL if the engine does not have it or nobody asked for it. */
const struct engine_index *engine_facts_find(const struct engine_facts *f, struct str name);
/* Returns the position of the first index whose name is not before this one. */
size_t engine_facts_from(const struct engine_facts *f, struct str name);
/* Returns the first of *n consecutive holders of the alias. */
const struct engine_holder *engine_facts_holders(const struct engine_facts *f, struct str alias,
                                                 size_t *n);

/* Parse answers of GET /INDEX. ERR_RETRY if one cannot be parsed. */
bool engine_facts_read(struct engine_facts *out, struct arena *a, const struct str *texts,
                       size_t n, struct err *err) MUST_CHECK;

/*
 * Ask for the indexes and aliases of these names and for patterns of indexes (orders_v*).
 * Leaves out what does not exist. A long list takes several requests, each limited to
 * ENGINE_ASK_MS.
 */
#define ENGINE_ASK_MS 5000
bool engine_facts_ask(struct engine_facts *out, struct arena *a, struct search *search,
                      const struct str *names, size_t n, struct err *err) MUST_CHECK;

#endif
