/*
 * Powers of ten with 128 significant bits, rounded up: 10^k is (high:low) * 2^x, where x sets
 * the highest bit.
 */
#ifndef SRC_BASE_NUMBER_POWERS_H
#define SRC_BASE_NUMBER_POWERS_H

#include <stdint.h>

#define NUMBER_POWER_MIN (-292)
#define NUMBER_POWER_MAX 324

struct number_power {
    uint64_t high, low;
};

/* Indexed by k - NUMBER_POWER_MIN. */
extern const struct number_power number_powers[NUMBER_POWER_MAX - NUMBER_POWER_MIN + 1];

#endif
