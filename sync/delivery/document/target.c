#include "config.h"

#include "sync/delivery/document/target.h"

#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static char *copy(struct str s)
{
    char *text = mem_alloc(s.len + 1, 1);

    if (s.len > 0)
        memcpy(text, s.ptr, s.len);
    return text;
}

struct target *target_new(struct str index, struct str write_alias, struct str table,
                          struct str topic)
{
    struct target *t = mem_alloc(1, sizeof(*t));

    t->index = copy(index);
    t->write_alias = copy(write_alias);
    t->table = copy(table);
    t->topic = copy(topic);
    t->refs = 1;
    return t;
}

void target_set_pipeline(struct target *t, struct str name)
{
    free(t->pipeline);
    t->pipeline = name.len > 0 ? copy(name) : NULL;
}

struct target *target_ref(struct target *t)
{
    unsigned before = __atomic_fetch_add(&t->refs, 1, __ATOMIC_RELAXED);

    assert(before > 0);
    return t;
}

void target_unref(struct target *t)
{
    if (t == NULL || __atomic_fetch_sub(&t->refs, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    if (t->plan_free != NULL)
        t->plan_free(t->plan);
    free(t->index);
    free(t->write_alias);
    free(t->table);
    free(t->topic);
    free(t->pipeline);
    free(t);
}
