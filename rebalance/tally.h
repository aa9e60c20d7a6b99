/*
 * struct tally: the rows of a table and the documents of its new index version, counted at one
 * position.
 *
 * Pure.
 */
#ifndef REBALANCE_TALLY_H
#define REBALANCE_TALLY_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct tally {
    uint64_t rows, documents;
    uint64_t dead;  /* dead letters: their documents are there as they were before, or not */
    uint64_t moved; /* row changes that one of the two counts may include and the other not */
};

/* Every row has its document or dead letter, as far as can be told. */
bool tally_agrees(const struct tally *t);

/* The same if nothing had moved. */
bool tally_agrees_exactly(const struct tally *t);

#endif
