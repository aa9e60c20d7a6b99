/*
 * struct random: random numbers that a seed repeats (xoshiro256++), and the system's own bytes
 * for everything secret.
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

/* The same seed gives the same numbers, on every machine and in every release. */
void random_init(struct random *r, uint64_t seed);
/* A seed from the system. */
void random_init_system(struct random *r);

uint64_t random_next(struct random *r);
/* Uniform in [0, n); n > 0. */
uint64_t random_below(struct random *r, uint64_t n);

/* n bytes from the kernel, fit for tokens and keys; aborts when it has none to give. */
void random_bytes(void *out, size_t n);

#endif
