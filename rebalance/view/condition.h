/* The state of a topic or table, since when, and what to do about it. */
#ifndef REBALANCE_VIEW_CONDITION_H
#define REBALANCE_VIEW_CONDITION_H

#include "src/base/str.h"

#include <stdbool.h>

struct condition {
    const char *state;
    bool is_bad;       /* a person must act, or searches miss its changes */
    bool is_of_all;    /* the reason is no fault of its own: a check of another group says it */
    struct str reason; /* empty: all is well */
    struct str fix;    /* or what happens automatically */
    const char *code;  /* what the doctor calls the reason; NULL: the check's own name */
    struct str
        since; /* RFC 3339: since when nothing goes on; empty: all is well, or not known */
};

#endif
