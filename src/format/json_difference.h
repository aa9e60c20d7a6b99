/*
 * The differences of two texts of JSON as values: numbers are decimals
 * (src/format/json_number.h), members may come in any order, elements in theirs. A member whose
 * value is null differs from one that is absent. Of members with one name, the last counts.
 *
 * Needs memory for the members of the objects that it is in, 40 bytes each, whatever else the
 * texts hold.
 */
#ifndef SRC_FORMAT_JSON_DIFFERENCE_H
#define SRC_FORMAT_JSON_DIFFERENCE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum json_difference_kind {
    JSON_MISSING,   /* wanted, and not found */
    JSON_EXTRA,     /* found, and not wanted */
    JSON_DIFFERENT, /* found, with another value */
};

struct json_difference {
    enum json_difference_kind kind;
    struct str path;          /* in the arena: items[2].price, a["b.c"]; empty: the whole */
    struct str wanted, found; /* JSON within the texts; a NULL ptr where there is none */
};

struct json_comparison {
    /* Set by the caller. */
    struct arena *arena;
    const struct str
        *ignored; /* names of members at the top that do not count, on either side */
    size_t n_ignored;
    bool allows_extra; /* members that are found and not wanted do not count, at any depth */
    bool as_doubles;   /* numbers with a point or an exponent on both sides are also equal if
                        * they read as the same double */
    struct json_difference *list; /* room for max */
    size_t max;

    /* The result. */
    size_t n;       /* in the list: the first ones, members in the order of their names */
    uint64_t n_all; /* found, listed or not */
};

/* ERR_REJECT if one of the texts is not JSON; the message says which. */
bool json_compare(struct json_comparison *c, struct str wanted, struct str found,
                  struct err *err) MUST_CHECK;

/* Returns the word for a kind: "missing", "extra" or "different". */
const char *json_difference_word(enum json_difference_kind kind);

#endif
