/*
 * What a build has counted.
 *
 * @thread any (pure)
 */
#ifndef REBALANCE_BUILD_TALLY_H
#define REBALANCE_BUILD_TALLY_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * struct tally: the numbers of a table's rows and its new index version's documents, counted at
 * one position.
 */
struct tally {
    uint64_t rows, documents;
    uint64_t dead;    /* dead letters; their documents are missing or outdated */
    uint64_t moved;   /* row changes that only one of the two counts may include */
    uint64_t dropped; /* documents that a pipeline may have dropped, at most */
};

/* Whether every row has a document or dead letter, or was dropped, as far as the counts can
 * tell. */
bool tally_agrees(const struct tally *t);

/* The same without the allowance for `moved`. */
bool tally_agrees_exactly(const struct tally *t);

#endif
