/*
 * struct alarm_budget: at most so many messages within any minute.
 *
 * Pure: the caller passes the time.
 */
#ifndef REBALANCE_ALARM_BUDGET_H
#define REBALANCE_ALARM_BUDGET_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALARM_BUDGET_MAX 60
#define ALARM_MINUTE_MS  60000

/* Zero-initialise it, but for max. */
struct alarm_budget {
    size_t max; /* 1 to ALARM_BUDGET_MAX */
    int64_t times[ALARM_BUDGET_MAX];
    size_t n, next;
};

/* Spends one message. Returns false, and spends nothing, if none is left at this time. */
bool alarm_budget_take(struct alarm_budget *b, int64_t now_ms) MUST_CHECK;

#endif
