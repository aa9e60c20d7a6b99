#include "config.h"

#include "sync/absence.h"

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
