/*
 * Where a sample looks: how much of each side, and from which keys on. Pure.
 *
 * Half of a sample are documents that the engine takes at random, half are rows. Rows are read
 * in runs, each from a place on, so that a large sample needs few statements. If the key is one
 * integer, a place is a random number between the least and the greatest key, so that a range
 * of rows that is missing in the index is met as often as it is wide. Other keys have no
 * numbers in between: a place is then the key of a document of the sample. An index that has no
 * more documents than the sample asks for is compared as a whole.
 */
#ifndef REBALANCE_VERIFY_PART_PLACES_H
#define REBALANCE_VERIFY_PART_PLACES_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct random;

#define VERIFY_SAMPLE_MAX 1000000
#define VERIFY_NEWEST     100 /* of each table, beside the sample */

struct sample_sizes {
    bool is_whole;
    uint64_t documents;   /* that the engine takes; about */
    uint64_t places, run; /* of each table, and rows of each */
};

/* asked: 1 to VERIFY_SAMPLE_MAX. total: documents of the index. n_tables: from 1. */
struct sample_sizes sample_sizes(uint64_t asked, uint64_t total, size_t n_tables);

/* Append the engine's query for about n of `total` documents, the same for the same seed. */
void sample_append_query(struct buf *json, uint64_t n, uint64_t total, uint32_t seed);

/*
 * Append the text of an integer from the least one, or above, to below the greatest one.
 * Returns false if there is none.
 */
bool sample_append_number(struct buf *text, struct str least, struct str greatest,
                          struct random *r);

#endif
