/*
 * struct name_set: an owned set of texts, such as names of things and ids of nodes, in their
 * order.
 *
 * Zero-initialise it and release it with name_set_free(). A text that a set returns is valid
 * until the set changes.
 */
#ifndef REBALANCE_CLUSTER_NAME_SET_H
#define REBALANCE_CLUSTER_NAME_SET_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct name_set {
    struct str *list; /* sorted, each once */
    size_t n, cap;
};

/* Adds a copy of the name. Returns false if the set has it. */
bool name_set_add(struct name_set *s, struct str name);
/* Returns false if the set does not have it. */
bool name_set_remove(struct name_set *s, struct str name);
bool name_set_has(const struct name_set *s, struct str name);
bool name_set_equal(const struct name_set *a, const struct name_set *b);
void name_set_copy(struct name_set *to, const struct name_set *from);
void name_set_clear(struct name_set *s);
void name_set_free(struct name_set *s);

#endif
