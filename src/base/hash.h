/*
 * A fast hash of byte strings for in-memory tables: multiply and fold, eight bytes a step.
 *
 * With a secret seed it resists keys chosen to collide. Do not store or send the value: it may
 * change with the next release.
 */
#ifndef SRC_BASE_HASH_H
#define SRC_BASE_HASH_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdint.h>

uint64_t hash_bytes(struct str s, uint64_t seed);

/* Returns this process's random seed, the same at every call. @thread any */
uint64_t hash_seed(void);

#endif
