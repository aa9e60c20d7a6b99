#include "config.h"

#include "rebalance/version/marks.h"

#include "rebalance/state/parts.h"

#include "src/base/log.h"

/* A mark belongs to one index version: the next build leaves it behind. */
static void name_mark(struct buf *name, struct str index)
{
    buf_printf(name, STORE_VERIFY "%" STR_FMT, STR_ARG(index));
}

/* Keeps the first reason: since then, documents may be stale. */
bool coordinator_mark_index(struct coordinator *co, const struct target *target,
                            const char *reason, struct err *err)
{
    struct buf name = {0}, old = {0};
    bool found = false;

    name_mark(&name, str_from(target->index));

    bool ok = store_get_value(co->opt.store, buf_str(&name), &old, &found, err);

    if (ok && !found) {
        ok = store_put_value(co->opt.store, buf_str(&name), str_from(reason), err);
        if (ok) {
            log_warn("documents of a table must be verified",
                     KV("table", (const char *)target->table),
                     KV("index", (const char *)target->index), KV("reason", reason));
            coordinator_log(co, str_from(target->table), str_from(target->index), 0, "verify",
                            reason);
        }
    }
    if (ok)
        store_watch_read(co->store_watch);
    buf_free(&name);
    buf_free(&old);
    return ok;
}
