#include "config.h"

#include "rebalance/topic/gap.h"

#include "rebalance/state/parts.h"
#include "rebalance/topic/reset.h"
#include "rebalance/topic/topics.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "sync/source/transport/transport.h"

#include <stdio.h>
#include <stdlib.h>

#define AGAIN_MS 60000 /* a new gap so soon has another cause: do not reset again */

#define REASON "a gap in its topic's log lost changes, so the index is being rebuilt"

/* Whether the topic stopped at a gap; *why gets the error. */
static bool has_gap(const struct topic *t, struct err *why)
{
    struct pipeline_status s;

    if (t->pipeline == NULL)
        return false;
    pipeline_status(t->pipeline, &s);
    free(s.gtids);
    *why = s.source.why;
    return s.source.state == SOURCE_FAILED && transport_is_gap(transport_reason_of(why));
}

static void close_gap(struct coordinator *co, const struct definitions *d, struct topic *t,
                      const struct err *why) NEEDS(co->admin_lock)
{
    const struct str name = str_from(t->name);
    struct err err = {0};
    uint64_t n = 0;

    t->gap_ms = clock_mono_ms();
    log_failure(LOG_ERROR, why,
                "the topic restarts at the server's present position and its "
                "tables are rebuilt",
                KV("topic", (const char *)t->name));
    if (!coordinator_reset_topic(co, d, &(struct reset_wish){name, REASON, true}, &n, &err))
        log_failure(LOG_ERROR, &err, "the topic cannot restart yet",
                    KV("topic", (const char *)t->name));
    coordinator_sync_topics(co);
}

void coordinator_close_gaps(struct coordinator *co)
{
    struct definitions *d = coordinator_definitions(co);

    for (struct topic *t = co->topics->first; t != NULL; t = t->next) {
        const struct topic_definition *of = definitions_topic(d, str_from(t->name));
        struct err why;

        if (of != NULL && of->on_gap == ON_GAP_REBUILD &&
            (t->gap_ms == 0 || clock_mono_ms() - t->gap_ms > AGAIN_MS) && has_gap(t, &why))
            close_gap(co, d, t, &why);
    }
    definitions_unref(d);
}
