/*
 * struct timers: what is due next.
 *
 * A heap of due times, each with a cookie of its owner.  It knows no clock: the caller says
 * what time it is.  Timers due at the same time come in the order in which they were set.
 *
 * @thread one at a time
 */
#ifndef SRC_BASE_TIMERS_H
#define SRC_BASE_TIMERS_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timers;

typedef uint64_t timer_id; /* 0 is never one, and none is used twice */

struct timers *timers_new(void) RETURNS_NONNULL MUST_CHECK;
void timers_free(struct timers *t); /* NULL is fine; cookies are the owners' */

timer_id timers_add(struct timers *t, int64_t due_ms, void *cookie);

/* False: it has come due or was cancelled before, or id is 0. */
bool timers_cancel(struct timers *t, timer_id id);

/* Take the earliest timer that is due at now_ms. */
bool timers_pop(struct timers *t, int64_t now_ms, void **cookie);

/* Milliseconds from now_ms until the earliest is due, at most max_ms, never below 0. */
int64_t timers_wait_ms(const struct timers *t, int64_t now_ms, int64_t max_ms);

size_t timers_count(const struct timers *t);

#endif
