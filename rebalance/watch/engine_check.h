/*
 * Compares the state of the search engine with what the store says and returns the differences
 * as a table of findings. Searches must see the indexes that Millrace writes.
 *
 * Pure. rebalance/engine/engine.c asks the engine, repairs what it can and reports the rest.
 */
#ifndef REBALANCE_WATCH_ENGINE_CHECK_H
#define REBALANCE_WATCH_ENGINE_CHECK_H

#include "rebalance/watch/engine_facts.h"
#include "rebalance/watch/whose.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Repairs that Millrace makes at once, because nobody can want the state they repair. */
enum mend {
    MEND_NONE = 0,
    MEND_ALIAS,       /* point the alias at the version that is written */
    MEND_STRAY,       /* remove an older version from the alias */
    MEND_WRITE_ALIAS, /* restore the write alias */
    MEND_OWNER, /* mark the owner of an index that was made before Millrace marked owners */
};

struct finding {
    struct str alias; /* the index name in the definitions */
    struct str index; /* the version concerned; empty: none is built yet */
    struct str stray; /* MEND_STRAY only: the older version */
    struct str reason;
    struct str fix; /* commands to run; if mend is set, what Millrace does by itself */
    enum mend mend;
};

/*
 * List the names to pass to engine_facts_ask() for everything stored. Allocated in the arena.
 */
void engine_check_names(const struct stored_facts *s, struct arena *a, struct str **names,
                        size_t *n);
/* Return the findings grouped by index, the most important first. Texts are in the arena. */
void engine_check(const struct stored_facts *s, const struct engine_facts *f, struct arena *a,
                  struct finding **out, size_t *n);

#endif
