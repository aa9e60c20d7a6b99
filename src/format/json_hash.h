/*
 * A hash of a text of JSON as a value: two texts have one hash if json_compare()
 * (src/format/json_difference.h) finds them equal, and two hashes otherwise, but for the chance
 * of one in 2^64. So spelling and order of members do not count, and of members with one name
 * the last does.
 *
 * A name, a string and a number have the hash of what they mean (src/base/hash.h,
 * src/format/json_number.h). An array chains the hashes of its elements. An object adds up the
 * hashes of its members, each of name and value, modulo 2^64. The sum is the hash of a set that
 * is known as AdHash: Bellare and Micciancio, "A New Paradigm for Collision-free Hashing:
 * Incrementality at Reduced Cost", EUROCRYPT 1997. Who knows the seed can make texts that
 * collide: take a secret one.
 *
 * One pass over the text, and one call for each level of it, of at most JSON_DEPTH_MAX. Needs
 * memory for the members of the objects that it is in, 24 bytes each, and for the longest
 * string with an escape; allocates none of it for a text with at most 64 such members and
 * without escapes.
 */
#ifndef SRC_FORMAT_JSON_HASH_H
#define SRC_FORMAT_JSON_HASH_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Store it with stored hashes: a release with another version makes other hashes. */
#define JSON_HASH_VERSION 1

struct json_hashing {
    const struct str *ignored; /* names of members at the top that do not count */
    size_t n_ignored;
    uint64_t seed; /* to mix something else in, as a routing: hash_bytes(routing, seed) */
};

/* Sets *hash. ERR_REJECT if text is not JSON. The hash is the same on every machine. */
bool json_hash(const struct json_hashing *how, struct str text, uint64_t *hash,
               struct err *err) MUST_CHECK;

#endif
