#include "config.h"

#include "rebalance/tally.h"

bool tally_agrees(const struct tally *t)
{
    return t->documents <= t->rows + t->moved &&
           t->documents + t->dead + t->moved >= t->rows;
}

bool tally_agrees_exactly(const struct tally *t)
{
    return tally_agrees(&(struct tally){t->rows, t->documents, t->dead, 0});
}
