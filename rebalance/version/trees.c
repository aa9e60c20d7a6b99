#include "config.h"

#include "rebalance/version/trees.h"

#include "rebalance/state/parts.h"
#include "rebalance/trees/trees.h"
#include "rebalance/version/routes.h"

#include "src/base/log.h"
#include "src/base/magic.h"
#include "sync/definition/members.h"
#include "sync/delivery/index/options.h"
#include "sync/document/key_set.h"

#include <string.h>

void coordinator_open_trees(struct coordinator *co)
{
    struct buf folder = {0};

    if (co->opt.data_dir == NULL)
        return;
    buf_printf(&folder, "%s/trees", co->opt.data_dir);
    if (!trees_new(&co->trees, folder.ptr, str_from(co->identity.owner), &co->no_trees))
        log_failure(LOG_WARN, &co->no_trees, "no index can have anti-entropy trees");
    buf_free(&folder);
}

/* ---- what delivery tells ---- */

static uint64_t value(void *ctx, const struct target *target, struct str routing,
                      struct str body)
{
    const struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    return trees_value(co->trees, str_from(target->index), routing, body);
}

static void note_entry(void *ctx, const struct target *target, const struct entry_note *n)
{
    const struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    const struct tree_news news = {.side = n->of_engine ? TREE_INDEX : TREE_SOURCE,
                                   .is_gone = n->what == ENTRY_GONE,
                                   .hash = n->what == ENTRY_VALUE ? n->value : TREE_READ_AGAIN,
                                   .id = n->id};

    trees_note(co->trees, str_from(target->index), &news);
}

void coordinator_feed_trees(struct coordinator *co, struct delivery_options *o)
{
    if (co->trees == NULL)
        return;
    o->value = value;
    o->note_entry = note_entry;
}

void coordinator_flush_trees(void *ctx)
{
    const struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    trees_flush(co->trees);
}

/* ---- which versions ---- */

static const struct compare_definition *find_compare(const struct definitions *d,
                                                     struct str index)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (d->tables[i].compare.given && str_equal(table_index(&d->tables[i]), index))
            return &d->tables[i].compare;
    return NULL;
}

struct compare_settings coordinator_compare_settings(const struct coordinator *co,
                                                     const struct definitions *d,
                                                     struct str index)
{
    const struct compare_definition *own = find_compare(d, index);
    struct compare_settings s = {.trees = co->opt.trees,
                                 .exchange_every_ms = co->opt.exchange_every_ms,
                                 .every_ms = co->opt.verify_every_ms,
                                 .rate = co->opt.verify_rate};

    if (own == NULL)
        return s;
    if (own->trees != COMPARE_TREES_DEFAULT)
        s.trees = own->trees == COMPARE_TREES_KEEP;
    if (own->exchange_every_s > 0)
        s.exchange_every_ms = (int64_t)own->exchange_every_s * 1000;
    if (own->every_s > 0)
        s.every_ms = (int64_t)own->every_s * 1000;
    if (own->rate > 0)
        s.rate = own->rate;
    return s;
}

/* A routing does not tell the shard of its documents (rebalance/verify/sides.c). */
static bool has_partitions(const struct table_definition *t)
{
    static const char name[] = "routing_partition_size";

    return t->settings_json.len > 0 &&
           memmem(t->settings_json.ptr, t->settings_json.len, name, sizeof(name) - 1) != NULL;
}

/* Whether documents can be compared with their rows as values, whoever changed the rows. */
static bool is_comparable(const struct definitions *d, struct str index)
{
    struct str ignored;

    for (size_t i = 0; i < d->n_tables; i++)
        if ((d->tables[i].sync_every_s > 0 || has_partitions(&d->tables[i]) ||
             (d->tables[i].mapping_json.len > 0 &&
              json_find(d->tables[i].mapping_json, "/_source", &ignored))) &&
            str_equal(table_index(&d->tables[i]), index))
            return false;
    return !definitions_index_is_piped(d, index);
}

bool coordinator_wants_trees(const struct coordinator *co, const struct definitions *d,
                             const struct stored_version *v)
{
    return co->opt.data_dir != NULL && str_equal(v->state, STR("available")) &&
           coordinator_compare_settings(co, d, v->index).trees && is_comparable(d, v->index);
}

void coordinator_follow_trees(struct coordinator *co, struct str topic, uint64_t term)
{
    struct catalogue *c = coordinator_catalogue(co);
    struct definitions *d = coordinator_definitions(co);

    for (size_t i = 0; co->trees != NULL && i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        struct buf name = {0};

        coordinator_index_name(&name, v->index, v->number);
        if (coordinator_wants_trees(co, d, v) && str_equal(v->topic, topic))
            trees_follow(co->trees, buf_str(&name), term);
        buf_free(&name);
    }
    definitions_unref(d);
    catalogue_unref(c);
}

void coordinator_end_trees(struct coordinator *co, struct str topic)
{
    struct catalogue *c = coordinator_catalogue(co);
    struct definitions *d = coordinator_definitions(co);

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        const struct table_definition *lead = definition_lead_of(d, v->index);
        struct buf name = {0};

        coordinator_index_name(&name, v->index, v->number);
        if (lead != NULL && coordinator_shows_topic(d, lead, topic))
            trees_end(co->trees, buf_str(&name));
        buf_free(&name);
    }
    definitions_unref(d);
    catalogue_unref(c);
}

void coordinator_drop_trees(struct coordinator *co)
{
    if (co->trees == NULL)
        return;

    struct catalogue *c = coordinator_catalogue(co);
    struct definitions *d = coordinator_definitions(co);
    struct key_set wanted = {0};

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        struct buf name = {0};

        coordinator_index_name(&name, v->index, v->number);
        if (coordinator_wants_trees(co, d, v))
            key_set_add(&wanted, buf_str(&name));
        buf_free(&name);
    }
    trees_keep(co->trees, &wanted);
    key_set_fini(&wanted);
    definitions_unref(d);
    catalogue_unref(c);
}
