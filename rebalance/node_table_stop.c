#include "config.h"

#include "rebalance/node.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"

#include <stdlib.h>
#include <string.h>

/* That it is stopped is stored. */
static bool tell_stop(struct coordinator *co, const struct stored_stop *stop, struct err *err)
{
    FAILPOINT(stop_stored);
    log_error("the table is stopped", KV("table", stop->table), KV("reason", stop->reason),
              KV("fix", stop->way_out));
    node_log_text(co, stop->table, STR(""), "stopped", stop->reason);
    return node_refresh(co, err);
}

bool node_stop_table(struct coordinator *co, struct str table, const char *reason,
                     const char *way_out, struct err *err)
{
    const struct stored_stop stop = {.table = table,
                                     .reason = str_from(reason),
                                     .way_out = str_from(way_out),
                                     .file = STR(""),
                                     .at_ms = clock_wall_ms()};

    return store_put_stop(co->opt.store, &stop, err) && tell_stop(co, &stop, err);
}

bool node_split_index_name(const char *index, struct str *alias, uint64_t *number)
{
    const struct str name = str_from(index);
    size_t at = name.len;

    while (at > 0 && name.ptr[at - 1] >= '0' && name.ptr[at - 1] <= '9')
        at--;
    if (at == name.len || at < 3 || memcmp(name.ptr + at - 2, "_v", 2) != 0)
        return false;
    *alias = (struct str){name.ptr, at - 2};
    *number = strtoull(name.ptr + at, NULL, 10);
    return true;
}

/* As the version was built: the definitions of now may have another lead for its index. */
void node_lead_name(struct coordinator *co, const struct target *target, struct buf *name)
{
    struct catalogue *c = node_catalogue(co);
    struct definitions *d = NULL;
    const struct table_definition *lead = NULL;
    const struct stored_version *v = NULL;
    struct err ignored = {0};
    struct str alias;
    uint64_t number;

    if (node_split_index_name(target->index, &alias, &number))
        v = catalogue_number(c, alias, number);
    if (v != NULL && !node_version_definitions(co, v, &d, &lead, &ignored))
        lead = NULL;
    buf_append(name, lead != NULL ? table_name(lead) : str_from(target->table));
    definitions_unref(d);
    node_catalogue_free(c);
}

/* What was stored takes effect, and is told. */
static bool take_effect(struct coordinator *co, const struct version_stop *v,
                        enum version_stopped how, struct err *err)
{
    switch (how) {
    case VERSION_TABLE: return tell_stop(co, &v->stop, err);
    case VERSION_BUILD: /* its build ends, the version that searches use goes on */
        log_error("a version that is being built cannot go on", KV("index", v->index),
                  KV("version", v->number), KV("reason", v->stop.reason));
        return node_refresh(co, err);
    case VERSION_GONE: break;
    }
    log_info("a version that another one has replaced is not written to any more",
             KV("index", v->index), KV("version", v->number), KV("reason", v->stop.reason));
    return true;
}

bool node_stop_target(struct coordinator *co, const struct target *target,
                      const struct node_stop *stop, struct err *err)
{
    const int64_t now_ms = clock_wall_ms();
    struct buf lead = {0};
    struct version_stop v = {.number = 0};
    enum version_stopped how;

    if (!node_split_index_name(target->index, &v.index, &v.number))
        return err_set(err, ERR_FATAL, "index %s is of no version", target->index);
    node_lead_name(co, target, &lead);
    v.stop = (struct stored_stop){.table = buf_str(&lead),
                                  .reason = str_from(stop->reason),
                                  .way_out = str_from(stop->way_out),
                                  .file = STR(""),
                                  .at_ms = now_ms};

    const struct stored_rebuild rebuild = {v.stop.table, v.stop.reason, now_ms};

    if (stop->again && node_follows(co, rebuild.table))
        v.rebuild = &rebuild;

    const bool ok =
        store_stop_version(co->opt.store, &v, &how, err) && take_effect(co, &v, how, err);

    buf_free(&lead);
    return ok;
}
