#include "config.h"

#include "rebalance/state/topics.h"

#include "src/base/mem.h"
#include "sync/read/source_registry.h"

#include <stdlib.h>

struct topics *topics_new(void)
{
    struct topics *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_topics_lock);
    all->registry = source_registry_new();
    return all;
}

void topic_free(struct topic *t)
{
    free(t->name);
    free(t);
}

void topics_free(struct topics *all)
{
    if (all == NULL)
        return;
    while (all->first != NULL) {
        struct topic *t = all->first;

        all->first = t->next;
        pipeline_unref(t->pipeline);
        topic_free(t);
    }
    source_registry_free(all->registry);
    lock_fini(&all->lock);
    free(all);
}

struct topic *topics_find(const struct topics *all, struct str name)
{
    for (struct topic *t = all->first; t != NULL; t = t->next)
        if (str_equal(str_from(t->name), name))
            return t;
    return NULL;
}
