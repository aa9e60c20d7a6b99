#include "config.h"

#include "sync/rate.h"

#define APART_MS 2000

double rate_look(struct rate *r, int64_t now_ms, uint64_t count)
{
    if (now_ms - r->at_ms < APART_MS)
        return r->per_s;
    r->per_s =
        r->at_ms == 0 ? 0 : (double)(count - r->count) * 1000 / (double)(now_ms - r->at_ms);
    r->at_ms = now_ms;
    r->count = count;
    return r->per_s;
}
