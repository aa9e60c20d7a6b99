/*
 * struct refusals: counts, by kind, the documents that the search engine refused in a new
 * version and in the searched one, and tells whether the new one is worse (ADR 32).
 *
 * A kind is a table and a reason, without what concerns one document only: ids, values, sizes.
 * Pure.
 */
#ifndef REBALANCE_BUILD_REFUSALS_H
#define REBALANCE_BUILD_REFUSALS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct refusals;

struct refusals *refusals_new(void) RETURNS_NONNULL MUST_CHECK;
void refusals_free(struct refusals *r);

/* Count one refused document of the new or of the old version. */
void refusals_add(struct refusals *r, bool is_new, struct str table, struct str reason);

/* Returns the refused documents of the new version. */
uint64_t refusals_all(const struct refusals *r);
/* Returns the sum, over all kinds, of how many more the new version has than the old one. */
uint64_t refusals_lost(const struct refusals *r);
/*
 * Returns how many documents may be lost: a thousandth of the rows, at least one, but never
 * all.
 */
uint64_t refusals_allowed(uint64_t rows);

/*
 * Append up to n_max kinds that lose more, the most frequent first: "4,000 of shop.orders:
 * mapper_parsing_exception: failed to parse field [price] of type [long]".
 */
void refusals_append(const struct refusals *r, unsigned n_max, struct buf *text);

/* Append the reason without what concerns one document only. */
void refusals_append_kind(struct str reason, struct buf *kind);
/* The engine's reason up to where it tells of one document: its id, a value. */
struct str refusals_without_document(struct str reason);

#endif
