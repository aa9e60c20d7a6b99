#include "config.h"

#include "rebalance/version/pending.h"

#include "rebalance/state/parts.h"
#include "rebalance/version/retire.h"

#include "sync/definition/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_of(const struct definitions *d, struct str table, struct str index)
{
    const struct table_definition *t = definitions_table(d, table);

    return t != NULL && str_equal(table_index(t), index);
}

/* Whether tables entered or left the index. */
static bool has_other_members(const struct definitions *now, const struct definitions *then,
                              struct str index)
{
    for (size_t i = 0; i < now->n_tables; i++)
        if (str_equal(table_index(&now->tables[i]), index) &&
            !is_of(then, table_name(&now->tables[i]), index))
            return true;
    for (size_t i = 0; i < then->n_tables; i++)
        if (str_equal(table_index(&then->tables[i]), index) &&
            !is_of(now, table_name(&then->tables[i]), index))
            return true;
    return false;
}

static bool is_changed(const struct definition_diff *diff, const struct definitions *d,
                       const struct table_definition *t)
{
    const struct topic_definition *topic = definition_topic(d, t);

    for (size_t i = 0; i < diff->n; i++) {
        const struct definition_change *c = &diff->changes[i];

        if (c->needs_build && c->change == CHANGE_CHANGE &&
            (str_equal(c->name, table_name(t)) ||
             (topic != NULL && strcmp(c->kind, "topic") == 0 &&
              str_equal(c->name, topic->name))))
            return true;
    }
    return false;
}

static uint64_t newest_of(const struct catalogue *c, struct str index)
{
    uint64_t newest = 0;

    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].index, index) && c->versions[i].number > newest)
            newest = c->versions[i].number;
    return newest;
}

static struct stored_value value_of(struct arena *a, struct str table, uint64_t newest)
{
    struct buf name = {0}, content = {0};

    buf_printf(&name, "pending/%" STR_FMT, STR_ARG(table));
    if (newest > 0)
        buf_printf(&content, "%" PRIu64, newest);

    const struct stored_value v = {arena_copy(a, buf_str(&name)),
                                   arena_copy(a, buf_str(&content))};

    buf_free(&name);
    buf_free(&content);
    return v;
}

/* All present versions were built of the old definition. */
void coordinator_note_pending(struct coordinator *co, const struct definitions *now,
                              const struct definitions *then,
                              const struct definition_diff *diff, struct retirement *r)
{
    struct catalogue *c = coordinator_catalogue(co);
    struct stored_value *values =
        arena_alloc(r->arena, now->n_tables + then->n_tables + 1, sizeof(*values));
    size_t n = 0;

    for (size_t i = 0; i < now->n_tables; i++)
        if (definitions_table(then, table_name(&now->tables[i])) == NULL)
            values[n++] = value_of(r->arena, table_name(&now->tables[i]), 0);
    for (size_t i = 0; i < then->n_tables; i++) {
        const struct table_definition *t = &then->tables[i];

        if (is_changed(diff, then, t) || has_other_members(now, then, table_index(t)))
            values[n++] = value_of(r->arena, table_name(t), newest_of(c, table_index(t)));
    }
    r->effects.values = values;
    r->effects.n_values = n;
    catalogue_unref(c);
}
