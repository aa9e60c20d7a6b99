/*
 * struct search_sniff: asks a search cluster for its nodes and updates its addresses.
 *
 * It asks at the start, once every interval, and soon after a working address has failed. While
 * nobody answers, the last result stays. The configured addresses always serve as a fallback.
 */
#ifndef SRC_SEARCH_SNIFF_H
#define SRC_SEARCH_SNIFF_H

#include "src/base/base.h"

#include <stdint.h>

struct search;
struct search_sniff;

/* Starts a thread; s must outlive it. */
struct search_sniff *search_sniff_start(struct search *s,
                                        int64_t interval_ms) RETURNS_NONNULL MUST_CHECK;
/* Stops soon, even if the engine does not answer. NULL is fine. */
void search_sniff_stop(struct search_sniff *sniff);

#endif
