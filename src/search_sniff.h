/*
 * struct search_sniff: asks a search cluster for its nodes, and lets its addresses follow.
 *
 * It asks at the start, once every interval, and soon after an address that worked has failed.
 * While nobody answers, what was found last stays; the configured addresses always help out.
 */
#ifndef SRC_SEARCH_SNIFF_H
#define SRC_SEARCH_SNIFF_H

#include "src/base/base.h"

#include <stdint.h>

struct search;
struct search_sniff;

/* Begin in a thread of its own; s must outlive it. */
struct search_sniff *search_sniff_start(struct search *s,
                                        int64_t interval_ms) RETURNS_NONNULL MUST_CHECK;
/* Soon, whether or not the engine answers.  NULL is fine. */
void search_sniff_stop(struct search_sniff *sniff);

#endif
