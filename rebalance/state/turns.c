#include "config.h"

#include "rebalance/state/turns.h"

#include "rebalance/state/parts.h"

#include "src/store/later/snapshot.h"
#include "src/store/later/whole_table.h"

#include <inttypes.h>

/* ---- what is concerned ---- */

struct table_search {
    struct str table;
    size_t n;
};

static void look(void *ctx, struct str table)
{
    struct table_search *s = ctx;

    s->n += str_equal(table, s->table);
}

/* The visit begins with the table itself, whose documents follow at once. */
static bool shows_table(const struct table_definition *t, struct str table)
{
    struct table_search s = {.table = table};

    table_visit(t, look, &s);
    return s.n > (size_t)str_equal(t->table, table);
}

static bool index_shows(const struct definitions *d, struct str index, struct str table)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (str_equal(table_index(&d->tables[i]), index) && shows_table(&d->tables[i], table))
            return true;
    return false;
}

struct run_tables {
    const struct str *list;
    size_t n;
};

enum which { WAITING, RUNNING };

/* Those of a run: one, or all of the topic that have snapshots that wait, or that are run. */
static bool load_tables(struct coordinator *co, struct arena *a, const struct snapshot_run *r,
                        enum which which, struct run_tables *out, struct err *err)
{
    struct snapshot_count *counts = NULL;
    size_t n = 0;

    if (r->table.len == 0 && !store_count_snapshots(co->opt.store, a, &counts, &n, err))
        return false;

    struct str *list = arena_alloc(a, n + 1, sizeof(*list));

    *out = (struct run_tables){.list = list};
    if (r->table.len > 0)
        list[out->n++] = r->table;
    for (size_t i = 0; i < n; i++)
        if (str_equal(counts[i].topic, r->topic) &&
            (which == WAITING ? counts[i].n_waiting : counts[i].n_running) > 0)
            list[out->n++] = counts[i].table;
    return true;
}

static bool index_shows_any(const struct definitions *d, struct str index,
                            const struct run_tables *tables)
{
    for (size_t i = 0; i < tables->n; i++)
        if (index_shows(d, index, tables->list[i]))
            return true;
    return false;
}

/* ---- a build comes second ---- */

static bool is_stopped(const struct catalogue *c, const struct definitions *d, struct str index)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (str_equal(table_index(&d->tables[i]), index) &&
            catalogue_stop(c, table_name(&d->tables[i])) != NULL)
            return true;
    return false;
}

/* Whether a run gets on with the documents of the index; without a version it has none. */
static bool gets_on(struct coordinator *co, const struct catalogue *c,
                    const struct definitions *d, struct str index)
{
    const struct stored_version *v = catalogue_version(c, index, STR("available"));
    struct buf name = {0};
    struct hold hold;

    if (v == NULL || is_stopped(c, d, index))
        return false;
    coordinator_index_name(&name, index, v->number);

    const bool is_held = holds_find(co->holds, buf_str(&name), &hold);

    buf_free(&name);
    return !is_held;
}

static bool refuse_build(const struct snapshot_run *r, struct str index, struct err *err)
{
    return refuse(err, TURN_TAKEN,
                  "delayed run %" PRIu64 " of topic %" STR_FMT
                  " writes documents of index %" STR_FMT
                  " again, and a build of it begins after that; fix: wait for it, millrace "
                  "delayed runs shows how far it is",
                  r->id, STR_ARG(r->topic), STR_ARG(index));
}

bool coordinator_may_build(struct coordinator *co, const struct catalogue *c,
                           const struct definitions *d, struct str index, struct err *err)
{
    struct arena *a = arena_new();
    struct snapshot_run *runs;
    size_t n = 0;
    bool ok = store_load_snapshot_runs(co->opt.store, a, STR(""), &runs, &n, err);

    for (size_t i = 0; ok && i < n; i++) {
        struct run_tables tables;

        if (runs[i].builds == RUN_BUILDS_ASKED)
            continue;
        ok = load_tables(co, a, &runs[i], RUNNING, &tables, err) &&
             (!index_shows_any(d, index, &tables) || !gets_on(co, c, d, index) ||
              refuse_build(&runs[i], index, err));
    }
    arena_free(a);
    return ok;
}

/* ---- a run comes second ---- */

static const struct stored_version *find_build(const struct catalogue *c,
                                               const struct definitions *d,
                                               const struct run_tables *tables)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].state, STR("changing")) &&
            index_shows_any(d, c->versions[i].index, tables))
            return &c->versions[i];
    return NULL;
}

static bool no_build(struct coordinator *co, const struct run_tables *tables, struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_version *v = find_build(c, d, tables);
    const bool ok =
        v == NULL || refuse(err, TURN_TAKEN,
                            "index %" STR_FMT " is being built (version %" PRIu64
                            "), and a delayed run that writes its documents begins after "
                            "that; fix: wait for it, millrace job list shows how far it is",
                            STR_ARG(v->index), v->number);

    catalogue_unref(c);
    definitions_unref(d);
    return ok;
}

static bool no_build_of(struct coordinator *co, const struct snapshot_run *run,
                        enum which which, struct err *err)
{
    struct arena *a = arena_new();
    struct run_tables tables;
    const bool ok = load_tables(co, a, run, which, &tables, err) && no_build(co, &tables, err);

    arena_free(a);
    return ok;
}

/* Who asks for a second run is told so at its beginning, whatever the first one waits for. */
static bool has_run(struct coordinator *co, struct str topic, bool *has, struct err *err)
{
    struct arena *a = arena_new();
    struct snapshot_run *runs;
    size_t n = 0;
    const bool ok = store_load_snapshot_runs(co->opt.store, a, topic, &runs, &n, err);

    *has = n > 0;
    arena_free(a);
    return ok;
}

bool coordinator_may_run_delayed(struct coordinator *co, const struct snapshot_run *run,
                                 struct err *err)
{
    bool has;

    return has_run(co, run->topic, &has, err) && (has || no_build_of(co, run, WAITING, err));
}

bool coordinator_may_go_on_delayed(struct coordinator *co, const struct snapshot_run *run,
                                   struct err *err)
{
    return no_build_of(co, run, RUNNING, err);
}

void turns_append_build(const struct catalogue *c, const struct definitions *d,
                        struct str table, struct buf *out)
{
    const struct run_tables tables = {&table, 1};
    const struct stored_version *v = find_build(c, d, &tables);

    if (v != NULL)
        buf_printf(out,
                   "the build of version %" PRIu64 " of index %" STR_FMT
                   "; millrace job list shows it",
                   v->number, STR_ARG(v->index));
}
