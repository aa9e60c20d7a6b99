#include "config.h"

#include "rebalance/node.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"

#include <stdlib.h>
#include <string.h>

bool node_stop_table(struct coordinator *co, struct str table, const char *reason,
                     const char *way_out, struct err *err)
{
    const struct stored_stop stop = {.table = table,
                                     .reason = str_from(reason),
                                     .way_out = str_from(way_out),
                                     .file = STR(""),
                                     .at_ms = clock_wall_ms()};

    if (!store_put_stop(co->opt.store, &stop, err))
        return false;
    FAILPOINT(stop_stored);
    log_error("the table is stopped", KV("table", table), KV("reason", reason),
              KV("fix", way_out));
    node_log(co, table, STR(""), 0, "stopped", reason);
    return node_refresh(co, err);
}

bool node_wish_rebuild(struct coordinator *co, struct str table, const char *reason,
                       struct err *err)
{
    const struct stored_rebuild wish = {
        .table = table, .reason = str_from(reason), .at_ms = clock_wall_ms()};

    return !node_follows(co, table) ||
           (store_put_rebuild(co->opt.store, &wish, err) && node_refresh(co, err));
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

bool node_stop_target(struct coordinator *co, const struct target *target, const char *reason,
                      const char *way_out, struct err *err)
{
    struct str alias;
    uint64_t number;
    bool changing = false;

    if (node_split_index_name(target->index, &alias, &number) &&
        !store_fail_version(co->opt.store, alias, number, str_from(reason), &changing, err))
        return false;
    if (!changing) {
        struct buf lead = {0};

        node_lead_name(co, target, &lead);

        const bool ok = node_stop_table(co, buf_str(&lead), reason, way_out, err);

        buf_free(&lead);
        return ok;
    }
    /* Its build ends, the version that searches use goes on. */
    log_error("a version that is being built cannot go on",
              KV("index", (const char *)target->index), KV("reason", reason));
    return node_refresh(co, err);
}
