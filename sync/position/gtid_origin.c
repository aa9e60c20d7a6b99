#include "config.h"

#include "sync/position/gtid_origin.h"

#include "src/base/mem.h"

#include <string.h>

struct gtid_origin gtid_origin_of(const struct gtid *g)
{
    struct gtid_origin o = {.domain = g->domain, .server = g->server, .number = g->number};

    memcpy(o.uuid, g->uuid, sizeof(o.uuid));
    memcpy(o.tag, g->tag, sizeof(o.tag));
    return o;
}

int gtid_origin_compare(enum gtid_family family, const struct gtid_origin *a,
                        const struct gtid_origin *b)
{
    if (family == GTID_MARIADB)
        return (a->domain > b->domain) - (a->domain < b->domain);

    const int order = memcmp(a->uuid, b->uuid, sizeof(a->uuid));

    return order != 0 ? order : strcmp(a->tag, b->tag);
}

/* Find the index of key, or the index at which to insert it. */
static size_t index_of(const struct gtid_set *s, const struct gtid_origin *key, bool *found)
{
    size_t low = 0, high = s->n_origins;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const int order = gtid_origin_compare(s->family, &s->origins[mid], key);

        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *found = false;
    return low;
}

const struct gtid_origin *gtid_origin_find(const struct gtid_set *s,
                                           const struct gtid_origin *key)
{
    bool found;
    const size_t i = index_of(s, key, &found);

    return found ? &s->origins[i] : NULL;
}

struct gtid_origin *gtid_origin_need(struct gtid_set *s, const struct gtid_origin *key)
{
    bool found;
    const size_t i = index_of(s, key, &found);

    if (found)
        return &s->origins[i];
    s->origins = mem_resize(s->origins, s->n_origins + 1, sizeof(*s->origins));
    memmove(&s->origins[i + 1], &s->origins[i], (s->n_origins - i) * sizeof(*s->origins));
    s->n_origins++;
    s->origins[i] = *key;
    s->origins[i].intervals = (struct intervals){0};
    s->origins[i].number = 0;
    return &s->origins[i];
}
