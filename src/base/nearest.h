/*
 * The known name nearest to an unknown one: "did you mean ...?".
 *
 *     struct nearest near = nearest_to(name);
 *     for (...)
 *         nearest_offer(&near, known[i]);
 *     if (near.best.len > 0) ...
 *
 * Counts inserted, removed, changed and swapped letters, ignoring case. Suggests nothing when
 * no name is near: a wrong suggestion is worse than none.
 */
#ifndef SRC_BASE_NEAREST_H
#define SRC_BASE_NEAREST_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

struct nearest {
    struct str name;
    struct str best; /* borrowed from the offered names; empty if none is near */
    size_t distance;
};

struct nearest nearest_to(struct str name);
void nearest_offer(struct nearest *n, struct str known);

#endif
