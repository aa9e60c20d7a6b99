#include "config.h"

#include "rebalance/fill/share.h"

#include "rebalance/cluster/name_set.h"

#include <stdbool.h>

/* How many come before this node, and how many there are. */
static size_t place_of(const struct fill_nodes *nodes, size_t *n)
{
    const bool is_owner = str_equal(nodes->self, nodes->owner);
    size_t before = 0;

    *n = 0;
    for (size_t i = 0; i < nodes->live->n; i++) {
        const struct str id = nodes->live->list[i];

        if (name_set_has(nodes->evacuated, id))
            continue;
        before += !is_owner && (str_equal(id, nodes->owner) || str_order(id, nodes->self) < 0);
        ++*n;
    }
    return before;
}

struct fill_share fill_share(const struct fill_nodes *nodes, size_t n_open)
{
    struct fill_share s = {.most = n_open};
    size_t n = 1, before = 0;

    if (nodes->live != NULL)
        before = place_of(nodes, &n);
    if (nodes->max > 0 && n > nodes->max)
        n = (size_t)nodes->max;
    s.most = before < n ? (n_open + n - 1) / n : 0;
    if (s.most > FILLS_AT_ONCE)
        s.most = FILLS_AT_ONCE;
    s.nodes = n;
    s.sharers = n_open < n * FILLS_AT_ONCE ? n_open : n * FILLS_AT_ONCE;
    return s;
}

size_t fill_give_back(const struct fill_share *now, size_t nodes_then, size_t n)
{
    const bool have_come = nodes_then > 0 && now->nodes > nodes_then;

    return n > now->most && (have_come || now->most == 0) ? n - now->most : 0;
}
