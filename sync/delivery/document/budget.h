/*
 * struct budget: limits the bytes held; callers wait for bytes to come free.
 *
 * A quarter of the limit is split evenly among the indexes, as allowances.  No index can use
 * another's allowance.  The rest of the limit is common: an index that exceeds its allowance
 * uses it.  A claim is admitted whole if the common bytes are within the common limit, so one
 * claim at most exceeds it.
 *
 * Claims of jobs leave a quarter of the common limit to the stream.
 *
 * A document above a quarter of the limit is large: it would take the room of all others.  It
 * counts for no index and is admitted alone: the next large document, of any index, waits until
 * it is gone.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_DELIVERY_DOCUMENT_BUDGET_H
#define SYNC_DELIVERY_DOCUMENT_BUDGET_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct budget;
struct stop;

/* The bytes held by one index, or by all large documents together. */
struct allowance {
    struct budget *budget;
    struct allowance *next;
    bool is_gone; /* the index is gone; guarded by the budget's lock */
    size_t held;  /* guarded by the budget's lock */
    /*
     * Bytes taken (without waiting, even above the limit) and given back since the last
     * budget_settle().  @thread that of budget_settle()
     */
    size_t taken, freed;
};

struct budget_claim {
    struct allowance *of;
    size_t n;     /* bytes */
    bool for_job; /* some are of documents that a job submits (struct doc_write's `gathered`) */
};

struct budget *budget_new(size_t max) RETURNS_NONNULL MUST_CHECK;
void budget_free(struct budget *b); /* nobody may be waiting; NULL is allowed */

/* Find or create the allowance of an index.  Valid as long as the budget. */
struct allowance *budget_allowance(struct budget *b, struct str index) RETURNS_NONNULL;
/* Tell whether a document of n bytes is large.  budget_large() is the account of those. */
bool budget_is_large(const struct budget *b, size_t n);
struct allowance *budget_large(struct budget *b) RETURNS_NONNULL;
/* Call when the index of a is gone for good: the other indexes share its allowance. */
void budget_drop(struct allowance *a);

/* Take all n claims, or none if one of them does not fit or the budget is closed. */
bool budget_try(struct budget *b, const struct budget_claim *claims, size_t n) MUST_CHECK;
/*
 * Take all n claims.  Blocks while one does not fit.  Returns false, with nothing taken, if the
 * budget is closed or stop (may be NULL) is set meanwhile.
 */
bool budget_take(struct budget *b, const struct budget_claim *claims, size_t n,
                 const struct stop *stop) MUST_CHECK;
/* Apply the `taken` and `freed` of all allowances, and wake callers if bytes came free. */
void budget_settle(struct budget *b);

/* Change the limit.  Bytes held above it stay. */
void budget_set_max(struct budget *b, size_t max);

/*
 * Tell whether the index of a may hold more: its allowance has room, or the common bytes are
 * within the common limit plus `beyond`.
 */
bool budget_has_room(const struct allowance *a, size_t beyond);
/*
 * Return how many bytes must go because too many common bytes are held, 0 if none.  n bytes are
 * already on their way out; `some` bytes are to be free afterwards.
 */
size_t budget_excess(struct budget *b, size_t n, size_t some);
/* Tell whether a caller with a large document waits for another large one to go. */
bool budget_waits_for_large(struct budget *b);
bool budget_holds_large(struct budget *b);

size_t budget_held(struct budget *b);
size_t budget_max(const struct budget *b);
size_t budget_waiting(struct budget *b); /* callers */

/* Refuse all who wait and all later claims. */
void budget_close(struct budget *b);

#endif
