/*
 * struct stored_facts: what the store knows of indexes and their versions.
 *
 * @thread its maker's
 */
#ifndef REBALANCE_WATCH_STORED_FACTS_H
#define REBALANCE_WATCH_STORED_FACTS_H

#include "src/base/str.h"
#include "src/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An index that definitions name, and the table that stands for it in commands. */
struct wanted_index {
    struct str alias, table;
};

/* The highest epoch that this store has given a topic. */
struct topic_epoch {
    struct str topic;
    uint64_t highest;
};

/*
 * What the store knows. Borrows everything. Call stored_facts_order() once, before any lookup.
 */
struct stored_facts {
    struct str owner; /* the store's own id */
    struct stored_version *versions;
    size_t n_versions;
    struct wanted_index *wanted;
    size_t n_wanted;
    const struct topic_epoch *epochs;
    size_t n_epochs;
};

void stored_facts_order(struct stored_facts *s);
/* Whether searches use the version, or will: older ones that are kept are not meant. */
bool stored_version_is_live(const struct stored_version *v);
/* Returns NULL if the version is not stored. */
const struct stored_version *stored_facts_version(const struct stored_facts *s,
                                                  struct str alias, uint64_t number);
/* Returns a version that changes are written to, or NULL. */
const struct stored_version *stored_facts_live(const struct stored_facts *s, struct str alias);
/* Returns the table that commands take for the index, or the alias, which they take as well. */
struct str stored_facts_table(const struct stored_facts *s, struct str alias);

#endif
