#include "config.h"

#include "rebalance/state/parts.h"
#include "rebalance/version/build.h"
#include "rebalance/version/builds.h"
#include "rebalance/version/index.h"
#include "rebalance/version/rebuild.h"
#include "rebalance/version/retired.h"
#include "rebalance/version/version_create.h"
#include "rebalance/version/version_drop.h"
#include "rebalance/version/waiting.h"

#include "src/base/log.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

#define KEEP_MAX 10 /* as of index.keep_versions */

static void answer_job(struct buf *json, const char *schema, const struct stored_version *v,
                       const struct created_version *created)
{
    struct json_writer w = {.out = json};
    struct buf id = {0};

    buf_printf(&id, "%" PRIu64, created->job);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_string(&w, STR("index"), v->index);
    json_put_u64(&w, STR("version"), v->number);
    json_put_string(&w, STR("job"), buf_str(&id));
    if (created->taken.len > 0)
        json_put_string(&w, STR("taken"), buf_str(&created->taken));
    if (created->cost.buckets > 0)
        build_cost_put(&w, &created->cost);
    if (created->dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
    buf_free(&id);
}

static void answer_cost(struct buf *json, struct str index, const struct build_cost *cost)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/index-create/1");
    json_put_bool(&w, STR("dry_run"), true);
    json_put_string(&w, STR("index"), index);
    build_cost_put(&w, cost);
    json_close_object(&w);
}

/*
 * What a command works on: the definitions in force, its table, and the versions as stored now.
 */
struct change {
    struct definitions *definitions;
    const struct table_definition *table;
    struct catalogue *catalogue;
};

static void end(struct coordinator *co, struct change *ch) GIVES_BACK(co->admin_lock)
{
    catalogue_unref(ch->catalogue);
    definitions_unref(ch->definitions);
    lock_release(&co->admin_lock);
}

/* On success until end(). */
static bool begin(struct coordinator *co, struct str table, struct change *ch, struct err *err)
    TAKES_IF(true, co->admin_lock)
{
    if (!coordinator_begin(co, err))
        return false;
    *ch = (struct change){.definitions = coordinator_definitions(co)};
    ch->table = coordinator_find_table(ch->definitions, table, err);
    if (ch->table != NULL)
        ch->table = definition_lead(ch->definitions, ch->table);
    if (ch->table == NULL || !coordinator_refresh(co, err)) {
        end(co, ch);
        return false;
    }
    ch->catalogue = coordinator_catalogue(co);
    return true;
}

static bool is_not_being_built(const struct change *ch, struct err *err)
{
    const struct stored_version *v = catalogue_coming(ch->catalogue, table_index(ch->table));
    const struct stored_wait *wait = v == NULL ? NULL : catalogue_wait(ch->catalogue, v);
    struct buf fix = {0};

    if (wait != NULL) {
        coordinator_append_wait_fix(&fix, wait, table_name(ch->table));
        refuse(err, 409,
               "version %" PRIu64 " of index %" STR_FMT " is built and waits to be published; "
               "fix: %s",
               v->number, STR_ARG(v->index), fix.ptr);
        buf_free(&fix);
        return false;
    }
    return v == NULL || refuse(err, 409,
                               "index %" STR_FMT " is already being built (version %" PRIu64
                               "); fix: wait for it, or millrace index reset %" STR_FMT,
                               STR_ARG(v->index), v->number, STR_ARG(table_name(ch->table)));
}

bool coordinator_index_create(struct coordinator *co, struct str table,
                              const struct index_create_options *opt, struct buf *json,
                              struct err *err)
{
    struct change ch;
    struct created_version created = {0};

    if (!coordinator_is_daemon(co, "an index build", err))
        return false;
    if (opt->keep > KEEP_MAX)
        return refuse(err, 400, "at most %d older versions can be kept", KEEP_MAX);
    if (opt->buckets > BUCKETS_MAX)
        return refuse(err, 400, "a build can have at most %d buckets", BUCKETS_MAX);
    if (!begin(co, table, &ch, err))
        return false;

    const bool ok =
        is_not_being_built(&ch, err) &&
        coordinator_create_version(co, ch.definitions, ch.table, opt, &created, err) &&
        (opt->dry_run || coordinator_refresh(co, err));

    if (ok && opt->dry_run) {
        answer_cost(json, table_index(ch.table), &created.cost);
    } else if (ok) {
        struct catalogue *c = coordinator_catalogue(co);
        const struct stored_version *v =
            catalogue_version(c, table_index(ch.table), STR("changing"));

        coordinator_log(co, table_name(ch.table), v->index, v->number, "building", "");
        coordinator_resume_builds(co);
        answer_job(json, "millrace/index-create/1", v, &created);
        catalogue_unref(c);
    }
    buf_free(&created.taken);
    end(co, &ch);
    return ok;
}

/* ---- waiting versions ---- */

static bool find_job(struct coordinator *co, const struct stored_version *v, uint64_t *id,
                     struct err *err)
{
    struct arena *a = arena_new();
    struct stored_job *jobs;
    size_t n = 0;
    const bool ok = store_load_jobs(co->opt.store, a, &jobs, &n, err);

    *id = 0;
    for (size_t i = 0; ok && i < n; i++)
        if (str_equal(jobs[i].kind, STR(JOB_INDEX)) && str_equal(jobs[i].index, v->index) &&
            jobs[i].version == v->number)
            *id = jobs[i].id;
    arena_free(a);
    return ok;
}

/* Find the waiting version of the table's index. */
static bool find_wait(const struct change *ch, const struct stored_version **v,
                      struct stored_wait *wait, struct err *err)
{
    const struct stored_wait *found;

    *v = catalogue_coming(ch->catalogue, table_index(ch->table));
    if (*v == NULL)
        return refuse(err, 409,
                      "no version of index %" STR_FMT
                      " waits; fix: millrace index create %" STR_FMT " builds one",
                      STR_ARG(table_index(ch->table)), STR_ARG(table_name(ch->table)));
    found = catalogue_wait(ch->catalogue, *v);
    if (found == NULL)
        return refuse(err, 409,
                      "version %" PRIu64 " of index %" STR_FMT
                      " is still being built, and is published "
                      "automatically when done; fix: millrace status shows its progress",
                      (*v)->number, STR_ARG((*v)->index));
    *wait = *found;
    return true;
}

bool coordinator_index_cutover(struct coordinator *co, struct str table, uint64_t accepted,
                               bool dry_run, struct buf *json, struct err *err)
{
    const struct stored_version *v;
    struct stored_wait wait;
    struct change ch;
    struct created_version published = {.dry_run = dry_run};

    if (!coordinator_is_daemon(co, "a cutover", err))
        return false;
    if (!begin(co, table, &ch, err))
        return false;

    bool ok = find_wait(&ch, &v, &wait, err) && find_job(co, v, &published.job, err);

    if (ok && accepted != 0)
        wait.accepted = accepted;
    ok = ok && coordinator_cutover(co, &wait, table_name(ch.table), dry_run, err);
    if (ok)
        answer_job(json, "millrace/index-cutover/1", v, &published);
    end(co, &ch);
    return ok;
}

/* Who only asks what would be done has another answer. */
static void answer_asked(struct buf *json, const char *schema, struct str index, uint64_t n,
                         bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_string(&w, STR("index"), index);
    json_put_u64(&w, STR("count"), n);
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

/* The versions of an alias to delete. */
struct deletion {
    struct str alias;
    uint64_t number; /* 0: every version that is not live */
    const struct stored_version **list;
    size_t n;
};

/*
 * Refuse if an alias leads to the version.  For a retired version, its own table's alias does
 * not count.
 */
static bool no_alias_leads_to(struct coordinator *co, const struct stored_version *v,
                              struct err *err)
{
    struct buf names = {0};
    bool ok = coordinator_aliases_of(co, v, str_equal(v->state, STR("retired")), &names, err);

    if (ok && names.len > 0)
        ok = refuse(err, 409,
                    "an alias points to %" STR_FMT "_v%" PRIu64 ": %s; nothing was deleted; "
                    "fix: remove the alias from it first",
                    STR_ARG(v->index), v->number, names.ptr);
    buf_free(&names);
    return ok;
}

static bool refuse_live(const struct stored_version *v, struct err *err)
{
    const bool is_coming = catalogue_is_coming(v);

    return refuse(err, 409, "version %" PRIu64 " of %" STR_FMT " is %s; fix: %s", v->number,
                  STR_ARG(v->index),
                  is_coming ? "being built or waits to be published"
                            : "the "
                              "one "
                              "that "
                              "searches "
                              "use",
                  is_coming ? "millrace index reset" : "build a newer one first");
}

/* Check all versions before any is deleted. */
static bool none_is_led_to(struct coordinator *co, const struct deletion *del, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < del->n; i++)
        ok = no_alias_leads_to(co, del->list[i], err);
    return ok;
}

static bool choose(const struct catalogue *c, struct deletion *del, struct err *err)
{
    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];

        if (!str_equal(v->index, del->alias) || (del->number != 0 && v->number != del->number))
            continue;
        if (!catalogue_is_live(v) || (del->number != 0 && str_equal(v->state, STR("kept"))))
            del->list[del->n++] = v;
        else if (del->number != 0)
            return refuse_live(v, err);
    }
    return del->number == 0 || del->n > 0 ||
           refuse(err, 404,
                  "index %" STR_FMT " has no version %" PRIu64
                  "; fix: see millrace version list %" STR_FMT,
                  STR_ARG(del->alias), del->number, STR_ARG(del->alias));
}

/*
 * Find the alias by a table or an index.  The index may be retired: then it is found by its own
 * name or by that of a table that it was built of.
 */
static bool find_alias(const struct definitions *d, const struct catalogue *c, struct str name,
                       struct str *alias, struct err *err)
{
    const struct table_definition *t = coordinator_find_table(d, name, err);

    if (t != NULL) {
        *alias = table_index(t);
        return true;
    }
    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].state, STR("retired")) &&
            (str_equal(c->versions[i].index, name) ||
             coordinator_version_is_of(&c->versions[i], name))) {
            *alias = c->versions[i].index;
            *err = (struct err){0};
            return true;
        }
    return false;
}

/* Searches may have returned to a kept version meanwhile. */
static bool is_as_chosen(struct coordinator *co, const struct deletion *del, struct err *err)
{
    struct catalogue *c = coordinator_catalogue(co);
    bool ok = true;

    for (size_t i = 0; ok && i < del->n; i++) {
        const struct stored_version *now =
            catalogue_number(c, del->alias, del->list[i]->number);

        ok = now == NULL || !catalogue_is_live(now) ||
             (del->number != 0 && str_equal(now->state, STR("kept"))) || refuse_live(now, err);
    }
    catalogue_unref(c);
    return ok;
}

static bool drop_chosen(struct coordinator *co, const struct deletion *del, struct err *err)
{
    if (!coordinator_begin(co, err))
        return false;

    const bool ok = coordinator_refresh(co, err) && is_as_chosen(co, del, err) &&
                    coordinator_drop_versions(co, del->list, del->n, err);

    lock_release(&co->admin_lock);
    return ok;
}

/* Asks the engine without a lock. */
bool coordinator_index_delete(struct coordinator *co, struct str table, uint64_t number,
                              bool dry_run, struct buf *json, struct err *err)
{
    struct deletion del = {.number = number};
    struct definitions *d;
    struct catalogue *c;
    uint64_t n = 0;

    if (!coordinator_begin(co, err))
        return false;

    bool ok = coordinator_refresh(co, err);

    d = coordinator_definitions(co);
    c = coordinator_catalogue(co);
    del.list = mem_alloc(c->n_versions + 1, sizeof(*del.list));
    lock_release(&co->admin_lock);
    ok = ok && find_alias(d, c, table, &del.alias, err) && choose(c, &del, err) &&
         none_is_led_to(co, &del, err) &&
         (dry_run ||
          (drop_chosen(co, &del, err) && coordinator_end_drops_of(co, del.alias, &n, err)));
    if (ok) /* another thread may have deleted some, or earlier ones were left */
        answer_asked(json, "millrace/index-delete/1", del.alias, n > del.n ? n : del.n,
                     dry_run);
    free(del.list);
    catalogue_unref(c);
    definitions_unref(d);
    return ok;
}

bool coordinator_index_reset(struct coordinator *co, struct str table, bool dry_run,
                             struct buf *json, struct err *err)
{
    struct change ch;
    struct buf index = {0};
    struct err ignored = {0};
    uint64_t n = 0, n_deleted;
    bool ok = true, dropped;

    if (!begin(co, table, &ch, err))
        return false;
    for (size_t i = 0; ok && i < ch.catalogue->n_versions; i++) {
        const struct stored_version *v = &ch.catalogue->versions[i];

        if (!str_equal(v->index, table_index(ch.table)) || !catalogue_is_coming(v))
            continue;
        if (dry_run) {
            n++;
            continue;
        }
        ok = coordinator_drop_build(co, v, &dropped, err);
        if (!dropped)
            continue;
        coordinator_log(co, table_name(ch.table), v->index, v->number, "reset", "");
        if (catalogue_rebuild(ch.catalogue, table_name(ch.table)) != NULL)
            coordinator_delay_rebuild(co, table_name(ch.table));
        n++;
    }
    if (ok)
        answer_asked(json, "millrace/index-reset/1", table_index(ch.table), n, dry_run);
    buf_append(&index, table_index(ch.table));
    end(co, &ch);
    if (n > 0 && !dry_run &&
        !coordinator_end_drops_of(co, buf_str(&index), &n_deleted, &ignored))
        log_debug("will retry until the index is deleted", KV("index", buf_str(&index)));
    buf_free(&index);
    return ok;
}

/* After a takeover a build goes on with the coordinator's next turn: here it goes on at once.
 */
static bool set_resumed(struct coordinator *co, struct str table, const struct job_change *c,
                        struct err *err)
{
    struct change ch;
    bool ok;

    if (!begin(co, table, &ch, err))
        return false;
    coordinator_resume_builds(co);
    ok = builds_set(co->builds, table_index(ch.table), c) ||
         refuse(err, 409, "index %" STR_FMT " is not being built",
                STR_ARG(table_index(ch.table)));
    end(co, &ch);
    return ok;
}

bool coordinator_index_set(struct coordinator *co, struct str table, const struct job_change *c,
                           bool dry_run, struct buf *json, struct err *err)
{
    static const struct job_change nothing = {0};
    struct definitions *d = coordinator_definitions(co);
    const struct table_definition *t = coordinator_find_table(d, table, err);

    if (dry_run)
        c = &nothing;

    const bool ok = t != NULL && (builds_set(co->builds, table_index(t), c) ||
                                  set_resumed(co, table, c, err));

    if (ok)
        answer_asked(json, "millrace/index-set/1", table_index(t), 1, dry_run);
    definitions_unref(d);
    return ok;
}
