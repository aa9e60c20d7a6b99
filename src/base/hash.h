/*
 * A fast hash of byte strings for tables in memory: multiply and fold, eight bytes a step.
 *
 * With a secret seed it withstands keys that were chosen to collide.  Not for anything that is
 * stored or sent: the value may change with the next release.
 */
#ifndef SRC_BASE_HASH_H
#define SRC_BASE_HASH_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdint.h>

uint64_t hash_bytes(struct str s, uint64_t seed);

/* A seed of this process, random, the same at every call.  @thread any */
uint64_t hash_seed(void);

#endif
