#include "config.h"

#include "src/net/address.h"

#define ASIDE_BASE_MS 1000

void address_init(struct address *a, bool is_up, int64_t now_ms)
{
    *a = (struct address){
        .state = is_up ? ADDRESS_UP : ADDRESS_AWAY,
        .since_ms = now_ms,
        .due_ms = now_ms,
        .backoff = {.base_ms = ASIDE_BASE_MS, .max_ms = ADDRESS_ASIDE_MAX_MS},
    };
}

bool address_is_due(const struct address *a, int64_t now_ms)
{
    return a->state != ADDRESS_UP && a->due_ms <= now_ms;
}

void address_ask(struct address *a, int64_t now_ms)
{
    if (a->state == ADDRESS_UP)
        return;
    a->state = ADDRESS_ASKED;
    a->due_ms = now_ms + ADDRESS_ASIDE_MAX_MS;
}

void address_answered(struct address *a, int64_t now_ms)
{
    if (a->state != ADDRESS_UP || !a->is_known)
        a->since_ms = now_ms;
    a->state = ADDRESS_UP;
    a->is_known = true;
}

void address_worked(struct address *a, int64_t now_ms)
{
    address_answered(a, now_ms);
    backoff_reset(&a->backoff);
}

bool address_failed(struct address *a, int64_t now_ms, struct random *r)
{
    const bool was_up = a->state == ADDRESS_UP;

    if (a->state == ADDRESS_AWAY)
        return false;
    if (was_up || !a->is_known)
        a->since_ms = now_ms;
    a->state = ADDRESS_AWAY;
    a->is_known = true;
    a->due_ms = now_ms + backoff_next_ms(&a->backoff, r);
    return was_up;
}
