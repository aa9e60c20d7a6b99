#include "config.h"

#include "rebalance/build/build.h"
#include "rebalance/build/reads.h"
#include "rebalance/fill/targets.h"

#include "rebalance/build/stored_deletes.h"
#include "sync/delivery/document/target.h"

static bool go_on(struct index_build *b, struct stored_deletes *d, struct err *err)
{
    struct target *t = version_target(b->opt.pipeline, b->index, STR(""), err);
    const bool ok = t != NULL && stored_deletes_go_on(d, t, &b->stop, err);

    target_unref(t);
    return ok;
}

/*
 * The engine forgets deletes, and a row read before a delete may have been written after it
 * (rule 6).
 */
bool build_repeat_deletes(struct index_build *b, struct err *err)
{
    struct stored_deletes *d =
        stored_deletes_new(b->opt.store, b->opt.delivery, b->index, b->opt.start);
    bool ok = go_on(b, d, err);

    while (ok && !stored_deletes_are_done(d)) {
        stop_wait(&b->stop, BUILD_POLL_MS);
        ok = !build_is_stopping(b, err) && go_on(b, d, err);
    }
    stored_deletes_free(d);
    return ok;
}
