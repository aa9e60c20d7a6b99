/*
 * A fast hash of byte strings for in-memory tables: multiply and fold, eight bytes a step.
 *
 * With a secret seed it resists keys chosen to collide. Do not store or send the value: it may
 * change with the next release, which then changes JSON_HASH_VERSION (src/format/json_hash.h)
 * too.
 */
#ifndef SRC_BASE_HASH_H
#define SRC_BASE_HASH_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdint.h>

uint64_t hash_bytes(struct str s, uint64_t seed);

#define HASH_K0 UINT64_C(0x9e3779b97f4a7c15)
#define HASH_K1 UINT64_C(0xd6e8feb86659fd93)

__extension__ typedef unsigned __int128 hash_wide;

/* Returns the product's halves, folded by xor; 0 if a or b is 0. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
    const hash_wide m = (hash_wide)a * b;

    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Mixes v into the hash h; the order counts. h depends on a seed. */
static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
    return hash_fold(h ^ HASH_K0, v ^ HASH_K1);
}

/* Returns this process's random seed, the same at every call. @thread any */
uint64_t hash_seed(void);

#endif
