#include "config.h"

#include "sync/server/recent_gtids.h"

#include "src/base/mem.h"

#include <stddef.h>
#include <stdlib.h>

struct begun {
    uint64_t version;
    struct gtid gtid;
};

struct recent_gtids {
    size_t first, n; /* a ring, in log order */
    struct begun ring[RECENT_GTIDS_MAX];
};

struct recent_gtids *recent_gtids_new(void)
{
    return mem_alloc(1, sizeof(struct recent_gtids));
}

void recent_gtids_free(struct recent_gtids *r)
{
    free(r);
}

static const struct begun *at(const struct recent_gtids *r, size_t i)
{
    return &r->ring[(r->first + i) % RECENT_GTIDS_MAX];
}

void recent_gtids_add(struct recent_gtids *r, uint64_t version, const struct gtid *g)
{
    while (r->n > 0 && at(r, r->n - 1)->version >= version)
        r->n--;
    if (r->n == RECENT_GTIDS_MAX) {
        r->first = (r->first + 1) % RECENT_GTIDS_MAX;
        r->n--;
    }
    r->ring[(r->first + r->n++) % RECENT_GTIDS_MAX] = (struct begun){version, *g};
}

const struct gtid *recent_gtids_find(const struct recent_gtids *r, uint64_t version)
{
    size_t low = 0, high = r->n; /* the answer is before high */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (at(r, middle)->version <= version)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || at(r, low - 1)->gtid.family == GTID_NONE)
        return NULL;
    return &at(r, low - 1)->gtid;
}
