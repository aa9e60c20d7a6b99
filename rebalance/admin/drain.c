#include "config.h"

#include "rebalance/admin/drain.h"
#include "rebalance/state/parts.h"
#include "rebalance/task/task.h"

#include "src/base/clock.h"

static bool find_timeout(const struct coordinator *co, const struct drain_request *r,
                         int64_t *timeout_ms, struct err *err)
{
    const struct delivery_settings s = delivery_get(co->delivery);

    *timeout_ms = r->timeout_ms < 0 ? (int64_t)s.drain_timeout_ms : r->timeout_ms;
    if (r->timeout_ms > DRAIN_TIMEOUT_MAX_MS)
        return refuse(err, 422, "a drain may take an hour at most");
    if (!r->all && r->worker >= s.workers)
        return refuse(err, 422,
                      "worker %u does not exist: workers are numbered 0 to %u "
                      "(delivery.workers)",
                      r->worker, s.workers - 1);
    return true;
}

static bool drain(struct coordinator *co, const void *order, struct buf *json, struct err *err)
{
    const struct drain_request *r = order;
    struct json_writer w = {.out = json};
    const int64_t began_ms = clock_mono_ms();
    const enum drain_end end =
        delivery_drain_partition(co->delivery, r->all ? DRAIN_ALL : r->worker, r->timeout_ms);
    const struct delivery_status left = delivery_status(co->delivery);

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/drain/1");
    json_put_cstr(&w, STR("end"), drain_end_word(end));
    json_put_cstr(&w, STR("detail"), drain_end_name(end));
    json_put_i64(&w, STR("took_ms"), clock_mono_ms() - began_ms);
    json_put_u64(&w, STR("queued"), left.queued + left.loading + left.in_flight);
    json_close_object(&w);
    (void)err;
    return true;
}

static void tell_cancelled(struct buf *json, bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/drain-cancel/1");
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

bool coordinator_drain(struct coordinator *co, const struct drain_request *r, struct buf *json,
                       struct err *err)
{
    struct drain_request order = *r;
    const struct task_order o = {"drain", drain, &order, sizeof(order)};

    return coordinator_is_daemon(co, "a drain", err) &&
           find_timeout(co, r, &order.timeout_ms, err) &&
           (r->dry_run ? tasks_try(&o, json) : tasks_start(co->tasks, co, &o, json, err));
}

bool coordinator_drain_cancel(struct coordinator *co, bool dry_run, struct buf *json,
                              struct err *err)
{
    if (!coordinator_is_daemon(co, "a drain", err))
        return false;
    if (!dry_run)
        delivery_drain_cancel(co->delivery);
    tell_cancelled(json, dry_run);
    return true;
}
