#include "config.h"

#include "rebalance/version/marks.h"

#include "rebalance/state/parts.h"
#include "rebalance/trees/trees.h"

#include "src/base/log.h"

#include <inttypes.h>
#include <string.h>

/* A mark belongs to one index version: the next build leaves it behind. */
static void name_mark(struct buf *name, struct str index)
{
    buf_printf(name, STORE_VERIFY "%" STR_FMT, STR_ARG(index));
}

/* Part of the mark while a job compares the whole index. */
static void append_under_way(struct buf *mark, uint64_t job)
{
    buf_printf(mark, "; job %" PRIu64 " verifies it", job);
}

/* The reason alone: the mark without what a job has put behind it. */
static struct str reason_of(struct str mark)
{
    static const char under_way[] = "; job ";
    const char *at =
        mark.len == 0 ? NULL : memmem(mark.ptr, mark.len, under_way, strlen(under_way));

    return at == NULL ? mark : (struct str){mark.ptr, (size_t)(at - mark.ptr)};
}

static void tell(struct coordinator *co, const struct target *target, const char *reason)
{
    log_warn("documents of a table must be verified", KV("table", (const char *)target->table),
             KV("index", (const char *)target->index), KV("reason", reason));
    coordinator_log(co, str_from(target->table), str_from(target->index), 0, "verify", reason);
}

/*
 * Keeps the first reason: since then, documents may be stale. A verification that is under way
 * may have passed them already, so it does not take this mark away.
 */
bool coordinator_mark_index(struct coordinator *co, const struct target *target,
                            const char *reason, struct err *err)
{
    struct buf name = {0}, old = {0};
    bool found = false;

    name_mark(&name, str_from(target->index));

    bool ok = store_get_value(co->opt.store, buf_str(&name), &old, &found, err);
    const struct str kept = found ? reason_of(buf_str(&old)) : str_from(reason);

    if (ok && (!found || kept.len < old.len))
        ok = store_put_value(co->opt.store, buf_str(&name), kept, err);
    if (ok && !found)
        tell(co, target, reason);
    /* They may have missed what the mark is for. */
    if (co->trees != NULL)
        trees_end(co->trees, str_from(target->index));
    if (ok)
        store_watch_read(co->store_watch);
    buf_free(&name);
    buf_free(&old);
    return ok;
}

bool coordinator_begin_mark(struct coordinator *co, struct str index, uint64_t job,
                            struct err *err)
{
    struct buf name = {0}, old = {0}, mark = {0};
    bool found = false;

    name_mark(&name, index);

    bool ok = store_get_value(co->opt.store, buf_str(&name), &old, &found, err);

    if (ok && found) {
        buf_append(&mark, reason_of(buf_str(&old)));
        append_under_way(&mark, job);
        ok = store_put_value(co->opt.store, buf_str(&name), buf_str(&mark), err);
    }
    buf_free(&name);
    buf_free(&old);
    buf_free(&mark);
    return ok;
}

bool coordinator_end_mark(struct coordinator *co, struct str index, uint64_t job, bool is_equal,
                          struct err *err)
{
    struct buf name = {0}, mark = {0}, under_way = {0};
    bool found = false;

    name_mark(&name, index);
    append_under_way(&under_way, job);

    bool ok = store_get_value(co->opt.store, buf_str(&name), &mark, &found, err);
    const struct str all = buf_str(&mark), reason = reason_of(all);
    const bool ours = ok && found && all.len - reason.len == under_way.len &&
                      memcmp(all.ptr + reason.len, under_way.ptr, under_way.len) == 0;

    if (ours && is_equal)
        ok = store_delete_value(co->opt.store, buf_str(&name), &all, err);
    else if (ours)
        ok = store_put_value(co->opt.store, buf_str(&name), reason, err);
    buf_free(&name);
    buf_free(&mark);
    buf_free(&under_way);
    return ok;
}
