#include "config.h"

#include "rebalance/trace/parts.h"

#include "rebalance/check/row_state.h"
#include "sync/document/loader.h"
#include "sync/routing/routing.h"

static const struct plan *plan_of(const struct trace *t)
{
    return ((const struct reading *)t->row_target->plan)->plan;
}

static struct schema *find_in_plan(const struct plan *p, struct str topic, struct str database,
                                   struct str table)
{
    for (size_t i = 0; i < plan_n_places(p); i++) {
        struct str has_database, has_table;
        bool ignored;

        plan_place(p, i, &has_database, &has_table, &ignored);
        if (str_equal(has_table, table) && str_equal(has_database, database) &&
            str_equal(plan_topic(p, plan_place_topic(p, i)), topic))
            return plan_place_schema(p, i);
    }
    return NULL;
}

/* A plan_schema_fn; ctx is a struct trace: the schemas that the plans of its index have. */
static struct schema *find_schema(void *ctx, struct str topic, struct str database,
                                  struct str table)
{
    const struct trace *t = ctx;
    struct schema *found = NULL;

    for (size_t i = 0; found == NULL && i < t->run.n_targets; i++)
        found = find_in_plan(((const struct reading *)t->run.targets[i]->plan)->plan, topic,
                             database, table);
    return found;
}

/* The load of a row_question; ctx is a struct trace.  The open read has all of its servers. */
static bool load(void *ctx, const struct plan *p, struct loaded *out, struct err *err)
{
    struct trace *t = ctx;
    const struct plan *whole = plan_of(t);
    struct loader_keys one = {.keys = &t->row_key, .n = 1};
    struct mysql_conn **conns =
        arena_alloc(t->arena, plan_n_topics(p), sizeof(struct mysql_conn *));

    for (size_t i = 0; i < plan_n_topics(p); i++)
        for (size_t k = 0; k < plan_n_topics(whole); k++)
            if (str_equal(plan_topic(p, i), plan_topic(whole, k)))
                conns[i] = t->run.links.conns[k];
    verify_run_live(&t->run);
    return loader_load(conns, p, &one, t->arena, out, err);
}

/* Of a pattern, the lead's definition stands for the table's own. */
static bool find_reason(struct trace *t, struct err *err)
{
    const struct table_definition *found =
        definitions_table(t->run.definitions, str_from(t->row_target->table));
    struct table_definition table = found != NULL ? *found : *t->run.lead;

    if (found == NULL)
        table.table = str_from(t->row_target->table);
    return row_state_find(&(struct row_question){.d = t->run.definitions,
                                                 .table = &table,
                                                 .find = find_schema,
                                                 .find_ctx = t,
                                                 .load = load,
                                                 .ctx = t},
                          &t->row, err);
}

static bool find_state(struct trace *t, struct err *err)
{
    struct loaded row = {0};

    if (!load(t, plan_of(t), &row, err))
        return false;
    t->row = row.rooted ? "shown" : "unrooted";
    if (row.err != NULL)
        t->row_reason = arena_copy(t->arena, str_from(row.err->msg));
    return row.body.ptr != NULL || row.err != NULL || !row.rooted || find_reason(t, err);
}

bool trace_look_at_row(struct trace *t, struct err *err)
{
    const struct verify_key *k = t->run.keys;
    struct err ignored = {0};
    uint64_t stamp;

    t->row = k->look.is_wanted ? "shown" : "absent";
    if (k->look.is_wanted || k->key.len == 0)
        return true;
    if (!read_links_open(&t->run.links, t->row_target->plan, 0, &stamp, err))
        return false;

    const bool ok = find_state(t, err);

    t->row = ok ? t->row : NULL;
    return read_links_end(&t->run.links, ok ? err : &ignored) && ok;
}
