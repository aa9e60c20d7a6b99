#include "config.h"

#include "src/base/backoff.h"

#include <assert.h>

int64_t backoff_limit_ms(const struct backoff *b)
{
    assert(b->base_ms > 0 && b->max_ms >= b->base_ms);

    int64_t limit = b->base_ms;

    for (unsigned i = 0; i < b->n_failed && limit < b->max_ms; i++)
        limit = limit > b->max_ms / 2 ? b->max_ms : limit * 2;
    return limit;
}

int64_t backoff_next_ms(struct backoff *b, struct random *r)
{
    int64_t limit = backoff_limit_ms(b);

    if (b->n_failed < UINT32_MAX)
        b->n_failed++;
    return 1 + (int64_t)random_below(r, (uint64_t)limit);
}

void backoff_reset(struct backoff *b)
{
    b->n_failed = 0;
}

bool absence_may_try(struct absence *a, int64_t now_ms)
{
    if (a->pause_ms == 0)
        return true;
    if (a->tried || now_ms < a->until_ms)
        return false;
    a->tried = true;
    return true;
}

/* Several may have begun when it was still there: they count once. */
void absence_tell(struct absence *a, bool there, int64_t now_ms)
{
    const bool counts = a->pause_ms == 0 || a->tried;

    if (there) {
        *a = (struct absence){0};
        return;
    }
    if (!counts)
        return;
    a->tried = false;
    a->pause_ms = a->pause_ms == 0 ? ABSENCE_FIRST_MS : a->pause_ms * 2;
    if (a->pause_ms > ABSENCE_MAX_MS)
        a->pause_ms = ABSENCE_MAX_MS;
    a->until_ms = now_ms + a->pause_ms;
}
