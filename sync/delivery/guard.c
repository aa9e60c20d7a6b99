#include "config.h"

#include "sync/delivery/guard.h"

bool guard_judge(struct guard *g, size_t n_refused, size_t n_taken, bool is_held)
{
    if (is_held)
        *g = (struct guard){0};
    g->n_refused += n_refused;
    g->n_judged += n_refused + n_taken;
    if (g->n_refused * 2 > g->n_judged)
        return is_held || g->n_refused >= GUARD_DOCUMENTS;
    *g = (struct guard){0};
    return false;
}
