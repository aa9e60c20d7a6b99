#include "config.h"

#include "rebalance/version/shards.h"

#include "rebalance/state/parts.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/search/search.h"
#include "sync/definition/members.h"

#include <string.h>

/* Whether documents of some table of the index are found by their parents. */
static bool needs_shards(const struct definitions *d, const struct table_definition *lead)
{
    const struct table_definition **members;
    struct arena *a = arena_new();
    bool needs = false;
    size_t n = 0;

    if (lead->join.given && definition_members(d, lead, NULL, NULL, a, &members, &n))
        for (size_t i = 0; i < n; i++)
            needs = needs || definition_join_level(d, members[i]) >= 2;
    arena_free(a);
    return needs;
}

static void name_shards(struct buf *name, const struct stored_version *v)
{
    struct buf index = {0};

    coordinator_index_name(&index, v->index, v->number);
    buf_printf(name, STORE_SHARDS "%" STR_FMT, STR_ARG(buf_str(&index)));
    buf_free(&index);
}

static bool ask_for_shards(struct coordinator *co, const struct stored_version *v,
                           struct str name, struct buf *shards, struct err *err)
{
    struct buf index = {0};

    coordinator_index_name(&index, v->index, v->number);

    const bool ok =
        (search_shard_routings(co->opt.search, buf_str(&index), shards, err) &&
         store_put_value(co->opt.store, name, buf_str(shards), err)) ||
        err_wrap(err, "the shards of index %s, which rows of its join may move between",
                 index.ptr);

    buf_free(&index);
    return ok;
}

/* The index was never created, or somebody deleted it: no retry helps. */
static bool is_gone(const struct err *why)
{
    return why->kind == ERR_REJECT && why->code == 404;
}

bool coordinator_shards(struct coordinator *co, const struct stored_version *v,
                        const struct definitions *d, const struct table_definition *lead,
                        char **shards, struct err *err)
{
    struct buf name = {0}, known = {0};
    bool found = false, ok = true;

    *shards = NULL;
    if (!needs_shards(d, lead))
        return true;
    name_shards(&name, v);
    ok = store_get_value(co->opt.store, buf_str(&name), &known, &found, err);
    if (ok && !found && !ask_for_shards(co, v, buf_str(&name), &known, err)) {
        err->kind = is_gone(err) ? ERR_REJECT : ERR_RETRY;
        ok = false;
    }
    if (ok)
        *shards = known.ptr;
    else
        buf_free(&known);
    buf_free(&name);
    return ok;
}
