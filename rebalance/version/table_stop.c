#include "config.h"

#include "rebalance/version/table_stop.h"

#include "rebalance/state/parts.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/shape.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"

#include <stdlib.h>
#include <string.h>

bool coordinator_tell_stop(struct coordinator *co, const struct stored_stop *stop,
                           struct err *err)
{
    FAILPOINT(stop_stored);
    log_error("table stopped", KV("table", stop->table), KV("reason", stop->reason),
              KV("fix", stop->way_out));
    coordinator_log_text(co, stop->table, STR(""), "stopped", stop->reason);
    return coordinator_refresh(co, err);
}

/* Report the stored stop and put it into effect. */
static bool take_effect(struct coordinator *co, const struct version_stop *v,
                        enum version_stopped how, struct err *err)
{
    switch (how) {
    case VERSION_TABLE: return coordinator_tell_stop(co, &v->stop, err);
    case VERSION_BUILD: /* its build ends; searches keep their version */
        log_error("index build stopped", KV("index", v->index), KV("version", v->number),
                  KV("reason", v->stop.reason));
        return coordinator_refresh(co, err);
    case VERSION_KEPT: /* searches keep theirs */
        log_warn("a kept index version is no longer current", KV("index", v->index),
                 KV("version", v->number), KV("reason", v->stop.reason));
        coordinator_log_text(co, v->stop.table, v->index, "outdated", v->stop.reason);
        coordinator_route_soon(co);
        return coordinator_refresh(co, err);
    case VERSION_GONE: break;
    }
    log_info("no longer writing to a replaced version", KV("index", v->index),
             KV("version", v->number), KV("reason", v->stop.reason));
    return true;
}

bool coordinator_stop_target(struct coordinator *co, const struct target *target,
                             const struct table_stop *stop, struct err *err)
{
    const int64_t now_ms = clock_wall_ms();
    struct buf lead = {0};
    struct version_stop v = {.number = 0};
    enum version_stopped how;

    if (!coordinator_split_index_name(target->index, &v.index, &v.number))
        return err_set(err, ERR_FATAL, "index name %s has no version", target->index);
    coordinator_lead_name(co, target, &lead);
    v.stop = (struct stored_stop){.table = buf_str(&lead),
                                  .reason = str_from(stop->reason),
                                  .way_out = str_from(stop->way_out),
                                  .file = STR(""),
                                  .at_ms = now_ms};
    v.at_ms = clock_steady_ms();

    const struct stored_rebuild rebuild = {v.stop.table, v.stop.reason, now_ms};

    if (stop->again && coordinator_follows(co, rebuild.table))
        v.rebuild = &rebuild;

    const bool ok =
        store_stop_version(co->opt.store, &v, &how, err) && take_effect(co, &v, how, err);

    buf_free(&lead);
    return ok;
}
