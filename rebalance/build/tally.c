#include "config.h"

#include "rebalance/build/tally.h"

bool tally_agrees(const struct tally *t)
{
    const uint64_t known = t->documents + t->dead + t->moved;

    return t->documents <= t->rows + t->moved &&
           (known >= t->rows || t->dropped >= t->rows - known);
}

bool tally_agrees_exactly(const struct tally *t)
{
    struct tally still = *t;

    still.moved = 0;
    return tally_agrees(&still);
}
