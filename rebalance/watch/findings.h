/*
 * The findings of the last check of the search engine. Keeping them lets people see them
 * without waiting for the engine.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_WATCH_FINDINGS_H
#define REBALANCE_WATCH_FINDINGS_H

#include "rebalance/watch/engine_check.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct findings;

/* When the engine was last asked, and when it last answered; 0: never. Monotonic times. */
struct findings_age {
    int64_t asked_ms, answered_ms;
    struct err why; /* why the last question got no answer; ERR_NONE: it got one */
};

struct findings *findings_new(void) RETURNS_NONNULL MUST_CHECK;
void findings_free(struct findings *f); /* NULL is fine */

/* Replace the findings with copies of these n. */
void findings_put(struct findings *f, const struct finding *list, size_t n, int64_t now_ms);
/* The engine did not answer: keep the earlier findings. */
void findings_fail(struct findings *f, const struct err *why, int64_t now_ms);

/* Ask the engine again soon. */
void findings_ask_soon(struct findings *f);
/* Whether findings_ask_soon() was called since the last call of this. */
bool findings_take_due(struct findings *f) MUST_CHECK;

struct findings_age findings_age(struct findings *f);
/* Returns copies of all findings in the arena. */
const struct finding *findings_all(struct findings *f, struct arena *a, size_t *n);

#endif
