#include "config.h"

#include "rebalance/version/retire.h"

#include "rebalance/state/parts.h"
#include "rebalance/version/build.h"
#include "rebalance/version/version_drop.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/format/json.h"

#include <inttypes.h>

/* Whether a table or pattern that the version was built of still has its index. */
static bool is_named(const struct definitions *d, const struct stored_version *v)
{
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];
        struct str ignored;

        if (str_equal(table_index(t), v->index) &&
            (coordinator_version_is_of(v, table_name(t)) ||
             (t->pattern.len > 0 && json_find(v->definition, "/pattern", &ignored))))
            return true;
    }
    return false;
}

static bool is_retired(const struct stored_version *v)
{
    return str_equal(v->state, STR("retired"));
}

/* Whether searches have used it. */
static bool was_searched(const struct stored_version *v)
{
    return v->finished_ms != 0;
}

bool coordinator_is_version_of(const struct stored_version *v, struct str index,
                               struct str table)
{
    return (index.len > 0 && str_equal(v->index, index)) ||
           (is_retired(v) && coordinator_version_is_of(v, table));
}

/* ---- stored with the definitions ---- */

static bool end_builds(struct coordinator *co, const struct definitions *then, struct err *err)
    NEEDS(co->admin_lock)
{
    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++)
        if (!was_searched(&c->versions[i]) && !is_named(then, &c->versions[i]))
            coordinator_end_build(co, c->versions[i].index, c->versions[i].number);
    catalogue_unref(c);
    return coordinator_refresh(co, err);
}

static void choose_versions(const struct catalogue *c, const struct definitions *then,
                            struct retirement *r)
{
    struct version_name *unnamed = arena_alloc(r->arena, c->n_versions + 1, sizeof(*unnamed)),
                        *renamed = arena_alloc(r->arena, c->n_versions + 1, sizeof(*renamed));

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        const struct version_name name = {arena_copy(r->arena, v->index), v->number};

        if (is_named(then, v) && is_retired(v))
            renamed[r->effects.n_renamed++] = name;
        else if (!is_named(then, v) &&
                 (!is_retired(v) ||
                  (r->effects.drops && coordinator_is_version_of(v, STR(""), r->all_of))))
            unnamed[r->effects.n_unnamed++] = name;
    }
    r->effects.unnamed = unnamed;
    r->effects.renamed = renamed;
}

static bool has_index(const struct definitions *d, struct str table, struct str index)
{
    const struct table_definition *t = definitions_table(d, table);

    return t != NULL && str_equal(table_index(t), index);
}

/*
 * Whether a version of the index stays live.  It may be stopped under the name of any table
 * that it was built of.
 */
static bool goes_on(const struct catalogue *c, const struct definitions *then, struct str index)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].index, index) && catalogue_is_live(&c->versions[i]) &&
            is_named(then, &c->versions[i]))
            return true;
    return false;
}

/* Collect the tables that lost their index. */
static void choose_tables(const struct catalogue *c, const struct definitions *now,
                          const struct definitions *then, struct retirement *r)
{
    struct str *tables = arena_alloc(r->arena, now->n_tables + 1, sizeof(*tables));

    for (size_t i = 0; i < now->n_tables; i++) {
        const struct table_definition *t = &now->tables[i];

        if (!has_index(then, table_name(t), table_index(t)) &&
            !goes_on(c, then, table_index(t)))
            tables[r->effects.n_tables++] = arena_copy(r->arena, table_name(t));
    }
    r->effects.tables = tables;
}

bool coordinator_retire(struct coordinator *co, const struct definitions *now,
                        const struct definitions *then, struct retirement *r, struct err *err)
{
    struct catalogue *c;

    r->arena = arena_new();
    r->effects.at_ms = clock_steady_ms();
    r->effects.drops = r->all_of.len > 0;
    if (!coordinator_refresh(co, err) || !end_builds(co, then, err))
        return false;
    c = coordinator_catalogue(co);
    choose_versions(c, then, r);
    choose_tables(c, now, then, r);
    catalogue_unref(c);
    return true;
}

void coordinator_retirement_free(struct retirement *r)
{
    if (r->arena != NULL)
        arena_free(r->arena);
    r->arena = NULL;
}

/* ---- after storing ---- */

static void tell(struct coordinator *co, const struct version_name *v, bool is_kept,
                 struct str all_of)
{
    const char *why = "no definition names its index any more";

    if (all_of.len > 0) {
        log_info("index dropped with its table", KV("index", v->index),
                 KV("version", v->number), KV("table", all_of));
        coordinator_log(co, all_of, v->index, v->number, "dropped",
                        "its table was deleted with its indexes");
        return;
    }
    if (is_kept)
        log_info("index retired: no definition names it, and Millrace no longer writes to it",
                 KV("index", v->index), KV("version", v->number));
    else
        log_info("build ended: no definition names its index any more", KV("index", v->index),
                 KV("version", v->number));
    coordinator_log(co, STR(""), v->index, v->number, is_kept ? "retired" : "reset", why);
}

void coordinator_retired(struct coordinator *co, const struct retirement *r)
{
    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < r->effects.n_unnamed; i++) {
        const struct version_name *v = &r->effects.unnamed[i];
        struct buf index = {0};

        coordinator_index_name(&index, v->index, v->number);
        if (co->delivery != NULL)
            delivery_drop(co->delivery, buf_str(&index));
        tell(co, v, catalogue_number(c, v->index, v->number) != NULL, r->all_of);
        buf_free(&index);
    }
    catalogue_unref(c);
    coordinator_end_drops_soon(co);
}

bool coordinator_retire_unnamed(struct coordinator *co, struct err *err)
{
    struct retirement r = {0};
    struct definitions *d = coordinator_definitions(co);
    bool ok = store_date_history(co->opt.store, clock_steady_ms(), err) &&
              coordinator_retire(co, d, d, &r, err);

    if (ok && r.effects.n_unnamed + r.effects.n_renamed > 0)
        ok = store_save_effects(co->opt.store, co->stored->revision, &r.effects, err) &&
             coordinator_refresh(co, err);
    for (size_t i = 0; ok && i < r.effects.n_unnamed; i++)
        tell(co, &r.effects.unnamed[i], true, STR(""));
    coordinator_retirement_free(&r);
    definitions_unref(d);
    return ok;
}

/* ---- warnings ahead ---- */

static void warn_of_version(const struct stored_version *v, struct problems *problems)
{
    if (!was_searched(v)) {
        problems_add(problems, SEVERITY_WARNING, (struct place){0},
                     "no definition names index %" STR_FMT
                     " any more: the build of version %" PRIu64 " ends",
                     STR_ARG(v->index), v->number);
        return;
    }
    problems_add(
        problems, SEVERITY_WARNING, (struct place){0},
        "no definition names index %" STR_FMT " any more: %" STR_FMT "_v%" PRIu64 " is "
        "retired: it stays in the search engine as it is, and Millrace no longer writes to it",
        STR_ARG(v->index), STR_ARG(v->index), v->number);
    problems_fix(problems, "millrace index delete %" STR_FMT " when no search needs it",
                 STR_ARG(v->index));
}

void coordinator_warn_of_retirement(struct coordinator *co, const struct definitions *then,
                                    struct problems *problems)
{
    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++)
        if (catalogue_is_live(&c->versions[i]) && !is_named(then, &c->versions[i]))
            warn_of_version(&c->versions[i], problems);
    catalogue_unref(c);
}

bool coordinator_none_is_built(struct coordinator *co, const struct definitions *then,
                               struct err *err)
{
    struct catalogue *c;
    bool ok = coordinator_refresh(co, err);

    c = coordinator_catalogue(co);
    for (size_t i = 0; ok && i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];

        ok = was_searched(v) || is_retired(v) || is_named(then, v) ||
             refuse(err, 409,
                    "index %" STR_FMT " is being built or waits to be published; nothing was "
                    "changed; fix: wait for it, or millrace index reset %" STR_FMT " first",
                    STR_ARG(v->index), STR_ARG(v->index));
    }
    catalogue_unref(c);
    return ok;
}

void coordinator_put_retired(struct json_writer *w, const struct retirement *r)
{
    json_write_key(w, STR("retired"));
    json_open_array(w);
    for (size_t i = 0; i < r->effects.n_unnamed && !r->effects.drops; i++) {
        struct buf index = {0};

        coordinator_index_name(&index, r->effects.unnamed[i].index,
                               r->effects.unnamed[i].number);
        json_write_string(w, buf_str(&index));
        buf_free(&index);
    }
    json_close_array(w);
}
