/*
 * struct random: reproducible random numbers (xoshiro256++), and the system's random bytes for
 * secrets.
 *
 * @thread one at a time; random_bytes() any
 */
#ifndef SRC_BASE_RANDOM_H
#define SRC_BASE_RANDOM_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state[4];
};

/* The same seed gives the same numbers on every machine and in every release. */
void random_init(struct random *r, uint64_t seed);
/* Seeds r from the system. */
void random_init_system(struct random *r);

uint64_t random_next(struct random *r);
/* Returns a uniform number in [0, n); n > 0. */
uint64_t random_below(struct random *r, uint64_t n);

/* Writes n bytes from the kernel, fit for tokens and keys. Aborts if the kernel has none. */
void random_bytes(void *out, size_t n);

#endif
