#include "config.h"

#include "rebalance/state/put_off.h"

#include "rebalance/state/owned.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/store/later/whole_table.h"

static void append_why(struct buf *json, struct str reason)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_string(&w, STR("statement"), reason);
    json_close_object(&w);
}

bool coordinator_put_off(struct coordinator *co, const struct whole_change *change,
                         struct err *err)
{
    struct snapshot_put put = {
        .owner.topic = change->topic, .table = change->table, .now_ms = clock_wall_ms()};
    struct buf why = {0};

    if (!coordinator_find_term(co, change->topic, &put.owner.term))
        return err_set(err, ERR_STOP, "topic %" STR_FMT " has another owner",
                       STR_ARG(change->topic));
    append_why(&why, change->reason);

    const struct snapshot_change snapshot = {.row = {.op = STR(WHOLE_TABLE_OP),
                                                     .row_id = STR(WHOLE_TABLE_ROW),
                                                     .row_json = buf_str(&why)},
                                             .lead = {.topic = change->owner,
                                                      .index = change->index,
                                                      .version = change->number,
                                                      .member = change->table,
                                                      .place = WHOLE_TABLE_PLACE,
                                                      .at_least = change->version}};
    const bool ok = store_put_snapshots(co->opt.store, &put, &snapshot, 1, err);

    FAILPOINT(table_put_off);
    buf_free(&why);
    if (ok)
        log_info("documents that show a delayed table wait for a run",
                 KV("table", change->table), KV("index", change->index),
                 KV("version", change->number), KV("reason", change->reason));
    return ok;
}
