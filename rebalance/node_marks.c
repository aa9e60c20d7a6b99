#include "config.h"

#include "rebalance/node.h"

#include "src/base/log.h"

/* A mark is of an index version: a build leaves it behind. */
static void name_mark(struct buf *name, struct str index)
{
    buf_printf(name, STORE_VERIFY "%" STR_FMT, STR_ARG(index));
}

/* The first reason stays: it is the one from which on documents may be stale. */
bool node_mark_index(struct coordinator *co, const struct target *target, const char *reason,
                     struct err *err)
{
    struct buf name = {0}, old = {0};
    bool found = false;

    name_mark(&name, str_from(target->index));

    bool ok = store_get_value(co->opt.store, buf_str(&name), &old, &found, err);

    if (ok && !found) {
        ok = store_put_value(co->opt.store, buf_str(&name), str_from(reason), err);
        if (ok) {
            log_warn("documents of a table are to be verified",
                     KV("table", (const char *)target->table),
                     KV("index", (const char *)target->index), KV("reason", reason));
            node_log(co, str_from(target->table), str_from(target->index), 0, "verify", reason);
        }
    }
    buf_free(&name);
    buf_free(&old);
    return ok;
}

void node_mark_of(struct coordinator *co, const struct catalogue *c, struct str alias,
                  struct buf *reason)
{
    const struct stored_version *v = catalogue_version(c, alias, STR("available"));
    struct buf index = {0}, name = {0};
    struct err ignored = {0};
    bool found;

    if (v == NULL)
        return;
    node_index_name(&index, v->index, v->number);
    name_mark(&name, buf_str(&index));
    if (!store_get_value(co->opt.store, buf_str(&name), reason, &found, &ignored))
        buf_clear(reason);
    buf_free(&index);
    buf_free(&name);
}
