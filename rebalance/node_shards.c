#include "config.h"

#include "rebalance/node.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/search.h"
#include "sync/model/definition_members.h"

#include <string.h>

/* Documents of some table of the index are found by their parents. */
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

    node_index_name(&index, v->index, v->number);
    buf_printf(name, STORE_SHARDS "%" STR_FMT, STR_ARG(buf_str(&index)));
    buf_free(&index);
}

static bool ask_for_shards(struct coordinator *co, const struct stored_version *v,
                           struct str name, struct err *err)
{
    struct buf index = {0}, shards = {0};

    node_index_name(&index, v->index, v->number);

    const bool ok = (search_shard_routings(co->opt.search, buf_str(&index), &shards, err) &&
                     store_put_value(co->opt.store, name, buf_str(&shards), err)) ||
                    err_wrap(err, "the shards of index %s, which rows of its join may move between",
                             index.ptr);

    buf_free(&index);
    buf_free(&shards);
    return ok;
}

bool node_learn_shards(struct coordinator *co, const struct stored_version *v,
                       const struct definitions *d, const struct table_definition *lead,
                       struct err *err)
{
    struct buf name = {0}, known = {0};
    bool found = false, ok = true;

    if (!needs_shards(d, lead))
        return true;
    name_shards(&name, v);
    ok = store_get_value(co->opt.store, buf_str(&name), &known, &found, err) &&
         (found || ask_for_shards(co, v, buf_str(&name), err));
    buf_free(&name);
    buf_free(&known);
    return ok;
}

/* The version was never made, or somebody deleted it: what is written to it says so. */
static bool is_gone(const struct err *why)
{
    return why->kind == ERR_REJECT && why->code == 404;
}

bool node_learn_topic_shards(struct coordinator *co, struct str topic, struct err *err)
{
    struct catalogue *c = node_catalogue(co);
    bool ok = true;

    for (size_t i = 0; ok && i < c->n_versions; i++) {
        const struct table_definition *lead;
        struct err unreadable = {0};
        struct definitions *d;

        if (!str_equal(c->versions[i].topic, topic) || !catalogue_is_live(&c->versions[i]) ||
            !node_version_definitions(co, &c->versions[i], &d, &lead, &unreadable))
            continue; /* told where it is to be followed */
        struct err why = {0};

        if (!node_learn_shards(co, &c->versions[i], d, lead, &why) && !is_gone(&why)) {
            *err = why;
            ok = false;
        }
        definitions_unref(d);
    }
    node_catalogue_free(c);
    return ok;
}

bool node_known_shards(struct coordinator *co, const struct stored_version *v, char **shards,
                       struct err *err)
{
    struct buf name = {0}, known = {0};
    bool found = false;

    name_shards(&name, v);

    const bool ok = store_get_value(co->opt.store, buf_str(&name), &known, &found, err);

    *shards = ok && found ? mem_copy(known.ptr) : NULL;
    buf_free(&name);
    buf_free(&known);
    return ok;
}
