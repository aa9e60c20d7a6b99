#include "config.h"

#include "rebalance/fill/targets.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "sync/pipeline/pipeline.h"
#include "sync/routing/routing.h"

#include <stdlib.h>

struct target *version_target(struct pipeline *p, const char *index, struct str table,
                              struct err *err)
{
    const bool settled = pipeline_is_settled(p);
    struct target *t = pipeline_target(p, str_from(index), table);

    if (t == NULL && !settled) {
        err_set(err, ERR_RETRY, "its topic is not running yet");
        return NULL;
    }
    if (t == NULL || __atomic_load_n(&((struct reading *)t->plan)->stopped, __ATOMIC_RELAXED)) {
        target_unref(t);
        err_set(err, ERR_REJECT, "the table was stopped while its index was built");
        return NULL;
    }
    return t;
}

void version_targets_free(struct target **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        target_unref(list[i]);
    free(list);
}

struct target **version_targets(struct pipeline *p, const char *index, size_t *n,
                                struct err *err)
{
    struct target *any = version_target(p, index, STR(""), err);
    struct target **list = pipeline_targets(p, str_from(index), n);

    if (any == NULL) {
        version_targets_free(list, *n);
        list = mem_alloc(1, sizeof(struct target *));
        *n = 0;
    } else if (*n == 0) {
        err_set(err, ERR_RETRY, "its topic has just read its table list again");
    }
    target_unref(any);
    return list;
}
