/*
 * struct budget: how many bytes may be held, and those who wait for some to come free.
 *
 * What waits is let in whole once no more than the limit is held, so the limit is exceeded by
 * at most one piece of each thread that takes.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_DELIVERY_BUDGET_H
#define SYNC_DELIVERY_BUDGET_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct budget;
struct stop;

struct budget *budget_new(size_t max) RETURNS_NONNULL MUST_CHECK;
void budget_free(struct budget *b); /* nobody may be waiting; NULL is fine */

/* Take n bytes, unless more than the limit is held, or it is closed. */
bool budget_try(struct budget *b, size_t n) MUST_CHECK;
/*
 * Take n bytes, waiting while more than the limit is held.  False, nothing taken: closed, or
 * stop (may be NULL) was set while it waited.
 */
bool budget_take(struct budget *b, size_t n, const struct stop *stop) MUST_CHECK;
/* Take n bytes at once, over the limit if need be. */
void budget_force(struct budget *b, size_t n);
void budget_give_back(struct budget *b, size_t n);

/* Another limit; what is held above it stays. */
void budget_set_max(struct budget *b, size_t max);

size_t budget_held(struct budget *b);
size_t budget_max(struct budget *b);
size_t budget_waiting(struct budget *b); /* callers */

/* Whoever waits, or comes later, is refused. */
void budget_close(struct budget *b);

#endif
