/*
 * struct reach: how many documents one changed row of a related table builds again.
 *
 * An estimate from the root down: at each step as many times more as rows of the outer table
 * share what they are joined by.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_REACH_H
#define SYNC_MODEL_REACH_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct catalog_shares;

/* From so many documents on people are warned. */
#define REACH_MANY 10000

struct reach {
    uint64_t largest; /* of the row that is in most; 0: not known */
    uint64_t usual;   /* on average, rounded up */
    bool at_least;    /* not all rows were looked at */
};

/* Of the document's own row. */
static inline struct reach reach_root(void)
{
    return (struct reach){1, 1, false};
}

/* One step down, by columns of the outer table that rows share so; NULL: it is not known. */
struct reach reach_below(struct reach outer, const struct catalog_shares *shares);

/* "1 document", "at least 12,345 documents, 17 on average". */
void reach_append(struct buf *text, struct reach r);

#endif
