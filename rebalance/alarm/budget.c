#include "config.h"

#include "rebalance/alarm/budget.h"

bool alarm_budget_take(struct alarm_budget *b, int64_t now_ms)
{
    if (b->n == b->max && now_ms - b->times[b->next] < ALARM_MINUTE_MS)
        return false;
    b->times[b->next] = now_ms;
    b->next = (b->next + 1) % b->max;
    b->n += b->n < b->max;
    return true;
}
