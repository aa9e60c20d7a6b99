#include "config.h"

#include "sync/delivery/index/seldom.h"

bool seldom_is_due(struct seldom *s, int64_t now_ms, uint64_t *n_left_out)
{
    if (now_ms < s->due_ms) {
        s->n_left_out++;
        return false;
    }
    *n_left_out = s->n_left_out;
    *s = (struct seldom){.due_ms = now_ms + SELDOM_MS};
    return true;
}
