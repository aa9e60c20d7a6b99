#include "config.h"

#include "sync/model/reach.h"

#include "src/base/buf.h"
#include "src/base/human.h"
#include "sync/model/catalog.h"

static uint64_t times(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

struct reach reach_below(struct reach outer, const struct catalog_shares *shares)
{
    if (shares == NULL || outer.largest == 0)
        return (struct reach){0};
    if (shares->n_values == 0) /* nobody is joined to anything yet */
        return (struct reach){outer.largest, outer.usual, outer.at_least};

    const uint64_t usual = (shares->n_rows + shares->n_values - 1) / shares->n_values;

    return (struct reach){times(outer.largest, shares->largest), times(outer.usual, usual),
                          outer.at_least || !shares->complete};
}

void reach_append(struct buf *text, struct reach r)
{
    buf_append(text, r.at_least ? STR("at least ") : STR(""));
    human_count(text, r.largest);
    buf_append(text, r.largest == 1 ? STR(" document") : STR(" documents"));
    if (r.largest == 1)
        return;
    buf_append(text, STR(", "));
    human_count(text, r.usual);
    buf_append(text, STR(" on average"));
}
