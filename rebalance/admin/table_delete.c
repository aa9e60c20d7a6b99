/*
 * A table's definition and all its indexes go together: the store forgets both in one
 * transaction, which also remembers the indexes until the engine has deleted them.  So whatever
 * dies in between, nothing is left that a person must look after.
 */
#include "config.h"

#include "rebalance/admin/apply.h"
#include "rebalance/admin/definitions.h"
#include "rebalance/admin/terms.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/retire.h"
#include "rebalance/version/retired.h"
#include "rebalance/version/version_drop.h"

#include "src/base/arena.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"

#include <inttypes.h>

struct doomed {
    struct str table;
    struct str index;  /* its alias; empty: no definition has the table any more */
    bool is_confirmed; /* also what searches use */
    const struct change_terms *terms;
    struct arena *arena;                /* of what the coordinator's own copies may lose */
    const struct stored_version **list; /* of the catalogue */
    size_t n;
};

/* ---- may they go? ---- */

static bool is_not_shared(const struct definitions *d, const struct doomed *g, struct err *err)
{
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];

        if (str_equal(table_index(t), g->index) && !str_equal(table_name(t), g->table))
            return refuse(err, 409,
                          "index %" STR_FMT " also has the documents of %" STR_FMT
                          "; nothing was changed; fix: millrace table delete %" STR_FMT
                          " first, or, to keep them, millrace table delete %" STR_FMT
                          " and millrace index create %" STR_FMT,
                          STR_ARG(g->index), STR_ARG(table_name(t)), STR_ARG(table_name(t)),
                          STR_ARG(g->table), STR_ARG(table_name(t)));
    }
    return true;
}

static bool is_not_coming(const struct doomed *g, const struct stored_version *v,
                          struct err *err)
{
    return !catalogue_is_coming(v) ||
           refuse(err, 409,
                  "version %" PRIu64 " of index %" STR_FMT
                  " is being built or waits to be published; nothing was changed; fix: wait "
                  "for it, or millrace index reset %" STR_FMT
                  ", or end the build as well with --confirm %" STR_FMT,
                  v->number, STR_ARG(v->index), STR_ARG(g->table), STR_ARG(g->table));
}

static bool is_unused(const struct doomed *g, const struct stored_version *v, struct err *err)
{
    return !catalogue_is_live(v) ||
           refuse(err, 409,
                  "searches of index %" STR_FMT " use version %" PRIu64
                  " or can return to it; nothing was changed; fix: millrace table delete "
                  "%" STR_FMT " without --with-indexes keeps the index; to delete it all the "
                  "same, add --confirm %" STR_FMT,
                  STR_ARG(v->index), v->number, STR_ARG(g->table), STR_ARG(g->table));
}

/* Find the versions as they are now, and refuse if that is enough to do so. */
static bool choose(const struct catalogue *c, struct doomed *g, struct err *err)
{
    bool ok = true;

    g->list = arena_alloc(g->arena, c->n_versions + 1, sizeof(*g->list));
    g->n = 0;
    for (size_t i = 0; i < c->n_versions; i++)
        if (coordinator_is_version_of(&c->versions[i], g->index, g->table))
            g->list[g->n++] = &c->versions[i];
    for (size_t i = 0; ok && !g->is_confirmed && i < g->n; i++)
        ok = is_not_coming(g, g->list[i], err);
    for (size_t i = 0; ok && !g->is_confirmed && i < g->n; i++)
        ok = is_unused(g, g->list[i], err);
    return ok;
}

/* Asks the engine, without a lock. */
static bool no_alias_leads_to(struct coordinator *co, const struct doomed *g, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && !g->is_confirmed && i < g->n; i++) {
        struct buf names = {0};

        ok =
            coordinator_aliases_of(co, g->list[i], false, &names, err) &&
            (names.len == 0 ||
             refuse(err, 409,
                    "an alias points to %" STR_FMT "_v%" PRIu64
                    ", so searches may use it: %s; nothing was changed; fix: remove the alias, "
                    "or delete the index all the same with --confirm %" STR_FMT,
                    STR_ARG(g->list[i]->index), g->list[i]->number, names.ptr,
                    STR_ARG(g->table)));
        buf_free(&names);
    }
    return ok;
}

/* ---- the two steps: look without the lock, and do under it ---- */

/* What the call finds; a table whose definition is gone may have retired indexes. */
static bool look(struct coordinator *co, struct doomed *g, struct definitions **d,
                 struct catalogue **c, struct err *err)
{
    if (!coordinator_begin(co, err))
        return false;

    const bool ok = coordinator_take_stored(co, err) && coordinator_refresh(co, err);

    *d = coordinator_definitions(co);
    *c = coordinator_catalogue(co);
    lock_release(&co->admin_lock);

    const struct table_definition *t = definitions_table(*d, g->table);

    g->index = t != NULL ? arena_copy(g->arena, table_index(t)) : STR("");
    return ok && (t == NULL || is_not_shared(*d, g, err)) && choose(*c, g, err) &&
           (t != NULL || g->n > 0 ||
            refuse(err, 404,
                   "there is no table %" STR_FMT
                   ", and no index of it: nothing to delete; fix: see millrace table list and "
                   "millrace index list",
                   STR_ARG(g->table)));
}

static bool drop(struct coordinator *co, struct doomed *g, struct err *err)
    NEEDS(co->admin_lock)
{
    struct retirement r = {.all_of = g->table, .by = g->terms->by};
    struct definitions *now;
    bool ok;

    if (g->index.len == 0)
        return coordinator_drop_versions(co, g->list, g->n, err);
    now = coordinator_definitions(co);
    ok = coordinator_check_terms(co, now, g->terms, err) &&
         coordinator_remove(co, STR("table"), g->table, &r, err);
    definitions_unref(now);
    coordinator_retirement_free(&r);
    return ok;
}

/* The versions may be others by now. */
static bool do_it(struct coordinator *co, struct doomed *g, struct catalogue **c,
                  struct err *err)
{
    if (!coordinator_begin(co, err))
        return false;

    bool ok = coordinator_refresh(co, err);

    catalogue_unref(*c);
    *c = coordinator_catalogue(co);
    ok = ok && choose(*c, g, err) && drop(co, g, err);
    lock_release(&co->admin_lock);
    return ok;
}

/* ---- in the engine, and the answer ---- */

/* Those that fail are tried again by themselves.  err: the first failure. */
static void end_drops(struct coordinator *co, const struct doomed *g, struct err *err)
{
    uint64_t n;

    for (size_t i = 0; i < g->n; i++) {
        struct err why = {0};

        if (i > 0 && str_equal(g->list[i]->index, g->list[i - 1]->index))
            continue;
        if (!coordinator_end_drops_of(co, g->list[i]->index, &n, &why) && err->kind == ERR_NONE)
            *err = why;
    }
}

static void answer(struct buf *json, const struct doomed *g, const struct err *later)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/delete/1");
    json_put_cstr(&w, STR("kind"), "table");
    json_put_string(&w, STR("name"), g->table);
    if (g->terms->dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_write_key(&w, STR("retired"));
    json_open_array(&w);
    json_close_array(&w);
    json_write_key(&w, STR("deleted"));
    json_open_array(&w);
    for (size_t i = 0; i < g->n; i++) {
        struct buf name = {0};

        coordinator_index_name(&name, g->list[i]->index, g->list[i]->number);
        json_write_string(&w, buf_str(&name));
        buf_free(&name);
    }
    json_close_array(&w);
    json_put_cstr(&w, STR("waits_for"), later->msg);
    json_close_object(&w);
}

bool coordinator_delete_table(struct coordinator *co, struct str table, struct str confirm,
                              const struct change_terms *terms, struct buf *json,
                              struct err *err)
{
    struct doomed g = {.table = table, .terms = terms, .is_confirmed = confirm.len > 0};
    struct definitions *d = NULL;
    struct catalogue *c = NULL;
    struct err later = {0};

    if (!coordinator_is_daemon(co, "deleting indexes", err))
        return false;
    if (g.is_confirmed && !str_equal(confirm, table))
        return refuse(err, 400,
                      "%" STR_FMT " was confirmed, and %" STR_FMT
                      " is to be deleted; nothing was changed; fix: name the same table twice",
                      STR_ARG(confirm), STR_ARG(table));
    g.arena = arena_new();

    const bool ok = look(co, &g, &d, &c, err) && coordinator_check_terms(co, d, terms, err) &&
                    no_alias_leads_to(co, &g, err) &&
                    (terms->dry_run || do_it(co, &g, &c, err));

    if (ok && !terms->dry_run) {
        FAILPOINT(table_forgotten);
        end_drops(co, &g, &later);
    }
    if (ok)
        answer(json, &g, &later);
    catalogue_unref(c);
    definitions_unref(d);
    arena_free(g.arena);
    return ok;
}
