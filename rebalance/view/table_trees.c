#include "config.h"

#include "rebalance/view/table_trees.h"

#include "rebalance/state/parts.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/version/trees.h"

#define MISSED_MAX 3     /* so many exchanges are no accident */
#define LOOKS_MS   15000 /* Millrace looks every few seconds which are due */

static int64_t since_ms(const struct coordinator *co, const struct stored_version *v,
                        const struct table_trees *t)
{
    const int64_t all[] = {co->started_ms, v->finished_ms, t->exchanges.ended_ms,
                           t->now.state == TREES_COMPLETE ? t->now.since_ms : 0};
    int64_t last_ms = 0;

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        last_ms = all[i] > last_ms ? all[i] : last_ms;
    return last_ms;
}

void coordinator_look_at_trees(struct coordinator *co, const struct definitions *d,
                               const struct stored_version *v, struct str index,
                               struct table_trees *out)
{
    const struct compare_settings settings = coordinator_compare_settings(co, d, v->index);

    out->are_wanted = coordinator_wants_trees(co, d, v);
    out->now = trees_look(co->trees, index);
    verify_jobs_exchanges(co->verifies, index, &out->exchanges);
    if (co->trees == NULL)
        out->exchanges.missing = co->no_trees;
    out->since_ms = since_ms(co, v, out);
    out->late_ms = out->since_ms + MISSED_MAX * settings.exchange_every_ms + LOOKS_MS;
    out->is_one_ahead =
        verify_jobs_run_for(co->verifies, index) ||
        verify_jobs_run(co->verifies,
                        out->now.state == TREES_COMPLETE ? JOB_EXCHANGE : JOB_COMPARE);
}
