#include "config.h"

#include "rebalance/admin/apply.h"

#include "rebalance/admin/definitions.h"
#include "rebalance/admin/draft.h"
#include "rebalance/admin/live_check.h"
#include "rebalance/admin/terms.h"
#include "rebalance/check/pipelines.h"
#include "rebalance/state/parts.h"
#include "rebalance/topic/give_back.h"
#include "rebalance/topic/topics.h"
#include "rebalance/version/claim.h"
#include "rebalance/version/pending.h"
#include "rebalance/version/rebuild.h"
#include "rebalance/version/retire.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/settings.h"
#include "rebalance/version/version_drop.h"

#include "src/base/arena.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/definition/diff.h"
#include "sync/definition/export.h"
#include "sync/definition/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROUTE_MS 5000

/*
 * Each alias must lead to our indexes, or nowhere.  For another store's index this is only a
 * warning, and a build refuses: an operator with a new, empty store must be able to apply
 * definitions before taking over a lost store's indexes.
 */
static void check_aliases(struct coordinator *co, const struct definitions *d,
                          const struct definition_diff *diff, bool take_alias,
                          struct problems *problems)
{
    struct claims claims = {.definitions = d,
                            .tables = mem_alloc(d->n_tables + 1, sizeof(*claims.tables)),
                            .take.alias = take_alias};

    for (size_t i = 0; i < d->n_tables; i++)
        if (definition_diff_touches(diff, "table", table_name(&d->tables[i])))
            claims.tables[claims.n++] = &d->tables[i];
    coordinator_check_claims(co, &claims, problems);
    free(claims.tables);
}

/* ---- storing ---- */

/* Store the definitions and their effects, or nothing. */
static bool store(struct coordinator *co, struct definitions *now, struct definitions *then,
                  const struct definition_diff *diff, struct retirement *r, struct err *err)
    NEEDS(co->admin_lock)
{
    struct stored_definition *stored;
    size_t n;

    if (!coordinator_retire(co, now, then, r, err))
        return false;
    coordinator_note_pending(co, now, then, diff, r);
    coordinator_note_change(r->by, r);
    definitions_to_store(then, r->arena, &stored, &n);

    const bool ok = store_save_definitions(co->opt.store, co->stored->revision, stored, n,
                                           &r->effects, err);

    FAILPOINT(definitions_stored);
    return ok &&
           (coordinator_load(co, err) ||
            err_wrap(err, "the definitions are stored and take effect when the store answers "
                          "again"));
}

/*
 * Stop the topics whose server, start or rights changed.  They start again from their
 * positions.
 */
static void restart_changed(struct coordinator *co, const struct definition_diff *diff)
    NEEDS(co->admin_lock)
{
    for (size_t i = 0; i < diff->n; i++) {
        const struct definition_change *c = &diff->changes[i];
        struct topic *t;

        if (strcmp(c->kind, "topic") == 0 && c->change == CHANGE_CHANGE &&
            (t = topics_find(co->topics, c->name)) != NULL)
            coordinator_stop_topic(co, t);
    }
}

/* Put the new definitions into effect: start and stop topics, and route their writes. */
static void put_into_effect(struct coordinator *co, const struct definition_diff *diff,
                            const struct retirement *r, struct problems *problems)
    NEEDS(co->admin_lock)
{
    if (co->delivery == NULL || diff->n == 0)
        return;
    restart_changed(co, diff);
    coordinator_sync_topics(co);
    for (struct topic *t = co->topics->first; t != NULL; t = t->next) {
        struct err err = {0};

        if (t->pipeline != NULL &&
            !coordinator_route(co, str_from(t->name), ROUTE_MS, NULL, &err))
            log_failure(LOG_INFO, &err, "the new definitions take effect later",
                        KV("topic", (const char *)t->name));
    }
    coordinator_retired(co, r);
    coordinator_on_tables_changed(co); /* the new definitions may allow a rebuild */
    coordinator_settings_due(co);
    coordinator_sync_settings(co, problems);
}

/* What is loaded now may be more than what this node has stored: another one may have been as
 * fast. */
static void put_loaded_into_effect(struct coordinator *co, const struct definitions *before,
                                   const struct retirement *r, struct problems *problems)
    NEEDS(co->admin_lock)
{
    struct definitions *now = coordinator_definitions(co);
    struct definition_diff diff = {0};

    definition_diff_make(before, now, &diff);
    put_into_effect(co, &diff, r, problems);
    definition_diff_free(&diff);
    definitions_unref(now);
}

/*
 * Put into effect what was stored earlier: its caller failed before that, or never got the
 * store's answer.
 */
bool coordinator_take_stored(struct coordinator *co, struct err *err)
{
    struct definitions *before;

    if (!coordinator_is_load_due(co))
        return true;
    before = coordinator_definitions(co);
    if (!coordinator_load(co, err)) {
        definitions_unref(before);
        return false;
    }
    coordinator_route_soon(co);
    coordinator_end_drops_soon(co);
    put_loaded_into_effect(co, before, &(struct retirement){0}, NULL);
    definitions_unref(before);
    return true;
}

/* On success, what is stored is in effect. */
static bool begin(struct coordinator *co, struct err *err) TAKES_IF(true, co->admin_lock)
{
    if (!coordinator_begin(co, err))
        return false;
    if (coordinator_take_stored(co, err))
        return true;
    lock_release(&co->admin_lock);
    return false;
}

/* What somebody saw at another node may not have been loaded here. */
static bool begin_on_terms(struct coordinator *co, const struct change_terms *terms,
                           struct err *err) TAKES_IF(true, co->admin_lock)
{
    struct definitions *now = coordinator_definitions(co);

    if (terms->revision != NULL && *terms->revision > now->revision)
        coordinator_load_soon(co);
    definitions_unref(now);
    return begin(co, err);
}

#define TRIES_MAX 5 /* others may change definitions meanwhile */

struct application {
    const struct apply_request *req;
    struct definition_file *files;
    struct definitions *now, *then;
    struct definition_diff diff;
    struct problems *problems;
    uint64_t revision;
};

static void forget(struct application *a)
{
    definition_diff_free(&a->diff);
    definitions_unref(a->then);
    definitions_unref(a->now);
    problems_free(a->problems);
    a->then = a->now = NULL;
    a->problems = NULL;
}

static void append_answer(struct buf *json, const struct application *a)
{
    struct json_writer w = {.out = json};
    struct buf part = {0};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/apply/1");
    json_put_bool(&w, STR("dry_run"), a->req->dry_run);
    json_put_u64(&w, STR("revision"), a->revision);
    definition_diff_append_json(&a->diff, &part);
    json_put_raw(&w, STR("items"), buf_str(&part));
    buf_clear(&part);
    problems_append_json(a->problems, &part);
    json_put_raw(&w, STR("warnings"), buf_str(&part));
    json_close_object(&w);
    buf_free(&part);
}

/* Get the definitions, if they are of the terms' revision. */
static bool look(struct coordinator *co, const struct change_terms *terms,
                 struct definitions **now, struct err *err)
{
    if (!begin_on_terms(co, terms, err))
        return false;
    *now = coordinator_definitions(co);
    lock_release(&co->admin_lock);
    return coordinator_check_terms(co, *now, terms, err);
}

/*
 * Find what the files would change, and ask the servers.  This may take long, so it holds no
 * lock that others wait for.  Returns false on refusal, with the reasons in err or a->problems.
 */
static bool examine(struct coordinator *co, struct application *a, struct err *err)
{
    if (!look(co, &a->req->terms, &a->now, err))
        return false;
    a->revision = a->now->revision;
    a->problems = problems_new();
    a->then = definition_apply(a->now, a->files, a->req->files.n, a->req->prune, a->problems);
    if (a->then == NULL)
        return false;
    definition_diff_make(a->now, a->then, &a->diff);
    coordinator_check_live(co, a->then, &a->diff, a->problems);
    coordinator_check_pipelines(co, a->then, &a->diff, a->problems);
    check_aliases(co, a->then, &a->diff, a->req->take_alias, a->problems);
    coordinator_warn_of_retirement(co, a->then, a->problems);
    return problems_count(a->problems, SEVERITY_ERROR) == 0;
}

/* Put what was examined into effect.  *is_stale: the definitions have changed since. */
static bool carry_out(struct coordinator *co, struct application *a, bool *is_stale,
                      struct err *err)
{
    struct retirement r = {.by = a->req->terms.by};
    struct definitions *now;
    bool ok = true;

    if (!begin(co, err))
        return false;
    now = coordinator_definitions(co);
    *is_stale = now != a->now;
    definitions_unref(now);
    if (!*is_stale && a->diff.n > 0)
        ok = store(co, a->now, a->then, &a->diff, &r, err);
    if (!ok && store_is_other_revision(err)) { /* another node was faster */
        coordinator_load_soon(co);
        ok = *is_stale = true;
    }
    if (!*is_stale && ok) {
        put_loaded_into_effect(co, a->now, &r, a->problems);
        a->revision = co->stored->revision;
    }
    coordinator_retirement_free(&r);
    lock_release(&co->admin_lock);
    return ok;
}

/* Whether nothing that is defined changes, where only something new may come. */
static bool is_new_enough(const struct application *a, struct err *err)
{
    if (!a->req->is_new)
        return true;
    for (size_t i = 0; i < a->diff.n; i++)
        if (a->diff.changes[i].change != CHANGE_ADD)
            return refuse(err, 409,
                          "%s %" STR_FMT " is defined already; fix: millrace %s set changes it",
                          a->diff.changes[i].kind, STR_ARG(a->diff.changes[i].name),
                          a->diff.changes[i].kind);
    return a->diff.n > 0 || refuse(err, 409, "this is defined already, as it is here");
}

static bool changes_topics(const struct definition_diff *diff)
{
    for (size_t i = 0; i < diff->n; i++)
        if (strcmp(diff->changes[i].kind, "topic") == 0)
            return true;
    return false;
}

static bool apply_once(struct coordinator *co, struct application *a, bool *is_stale,
                       struct buf *json, struct err *err)
{
    *is_stale = false;
    if (!examine(co, a, err))
        return a->problems != NULL && draft_refuse(a->problems, json, err);
    if (!is_new_enough(a, err))
        return false;
    if (!a->req->dry_run && !carry_out(co, a, is_stale, err))
        return false;
    if (!a->req->dry_run && !*is_stale && changes_topics(&a->diff))
        coordinator_wait_for_owners(co, a->problems);
    if (!*is_stale)
        append_answer(json, a);
    return true;
}

bool coordinator_apply(struct coordinator *co, const struct apply_request *req,
                       uint64_t *revision, struct buf *json, struct err *err)
{
    struct application a = {.req = req};
    bool ok, is_stale;
    unsigned tries = 0;

    a.files = draft_files(&req->files);
    lock_acquire(&co->apply_lock);
    do {
        ok = apply_once(co, &a, &is_stale, json, err);
        forget(&a);
    } while (ok && is_stale && ++tries < TRIES_MAX);
    lock_release(&co->apply_lock);
    *revision = a.revision;
    if (ok && is_stale)
        ok = refuse(err, 503, "others keep changing the definitions; try again");
    free(a.files);
    return ok;
}

bool coordinator_export(struct coordinator *co, bool sees_files, uint64_t *revision,
                        struct buf *yaml, struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    struct arena *a = arena_new();
    struct definitions shown = *d;

    (void)err;
    *revision = d->revision;
    if (!sees_files) {
        definitions_hide_files(&shown, d, a);
        buf_append(yaml, STR("# for a viewer: without the files and variables that have "
                             "passwords and keys\n"));
    }
    definitions_append_yaml(&shown, yaml);
    arena_free(a);
    definitions_unref(d);
    return true;
}

/* ---- removing ---- */

static void answer_removed(struct buf *json, struct str noun, struct str name,
                           const struct retirement *r)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/delete/1");
    json_put_string(&w, STR("kind"), noun);
    json_put_string(&w, STR("name"), name);
    if (r->dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    coordinator_put_retired(&w, r);
    json_close_object(&w);
}

bool coordinator_remove(struct coordinator *co, struct str noun, struct str name,
                        struct retirement *r, struct err *err)
{
    struct definition_diff diff = {0};
    struct definitions *now = coordinator_definitions(co);
    struct definitions *then = definition_remove(now, noun, name, err);
    bool ok = then != NULL && (r->all_of.len > 0 || coordinator_none_is_built(co, then, err));

    if (then == NULL && err->code == 0) {
        const struct err why = *err;

        refuse(err, 409, "%s", why.msg);
    }
    if (ok) {
        definition_diff_make(now, then, &diff);
        ok = r->dry_run ? coordinator_retire(co, now, then, r, err)
                        : store(co, now, then, &diff, r, err);
    }
    if (ok && !r->dry_run)
        put_loaded_into_effect(co, now, r, NULL);
    definition_diff_free(&diff);
    definitions_unref(then);
    definitions_unref(now);
    return ok;
}

bool coordinator_delete(struct coordinator *co, struct str noun, struct str name,
                        const struct change_terms *terms, struct buf *json, struct err *err)
{
    struct retirement r = {.by = terms->by, .dry_run = terms->dry_run};
    struct definitions *now;

    if (!begin_on_terms(co, terms, err))
        return false;
    now = coordinator_definitions(co);

    const bool ok = coordinator_check_terms(co, now, terms, err) &&
                    coordinator_remove(co, noun, name, &r, err);

    definitions_unref(now);

    if (ok)
        answer_removed(json, noun, name, &r);
    coordinator_retirement_free(&r);
    lock_release(&co->admin_lock);
    return ok;
}
