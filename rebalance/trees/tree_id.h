/*
 * A document's `_id` in 17 bytes, from which the id can mostly be read again: a kind, and 16
 * bytes that are zero behind what the kind fills.
 *
 *     raw       up to 16 bytes as they are; the kind is their number
 *     UUID      with dashes, lower or upper case: its 16 bytes
 *     hex       32 digits, lower or upper case: their 16 bytes
 *     decimal   17 digits or more that fit 64 bits, without zeros in front, maybe with a minus
 *     hash      anything else: XXH3's 128 bits
 *
 * Two ids have the same packed form only if two hashes are the same. Among ten million hashed
 * ids chance does that once in 10^24 trees. Who can choose ids can also find a pair, as XXH3 is
 * no cryptographic hash; such a pair hides or invents a difference of its own two documents,
 * and `millrace verify`, which reads the documents themselves, still compares both.
 *
 * Pure.
 */
#ifndef REBALANCE_TREES_TREE_ID_H
#define REBALANCE_TREES_TREE_ID_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct buf;

#define TREE_ID_SIZE 17

struct tree_id {
    uint8_t bytes[TREE_ID_SIZE];
};

/* text may be any bytes, of any length. */
void tree_id_pack(struct tree_id *out, struct str text);
/* Appends the id's text. Returns false and appends nothing for a hash: find the document by
 * tree_id_is_of() in a pass over all ids. */
bool tree_id_unpack(const struct tree_id *id, struct buf *out);
/* Returns true if id is the packed form of text. */
bool tree_id_is_of(const struct tree_id *id, struct str text);
/* Returns false if no id has this kind: the bytes are damaged. */
bool tree_id_has_a_kind(const uint8_t *bytes);

/* Returns 64 evenly spread bits of the id. They choose its bucket. */
uint64_t tree_id_spread(const uint8_t *bytes);

static inline int tree_id_order(const struct tree_id *a, const struct tree_id *b)
{
    return memcmp(a->bytes, b->bytes, TREE_ID_SIZE);
}

#endif
