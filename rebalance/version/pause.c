#include "config.h"

#include "rebalance/version/pause.h"

#include "rebalance/state/pauses.h"
#include "rebalance/version/index.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"

/* ---- delivery ---- */

/* Pause a version that gets changes, or let it go on.  p: NULL: it is not paused. */
static void tell_delivery(struct coordinator *co, const struct stored_version *v,
                          const struct pause *p)
{
    struct buf why = {0}, name = {0};

    coordinator_index_name(&name, v->index, v->number);
    if (p != NULL) {
        pause_append(&why, p);
        delivery_pause(co->delivery, buf_str(&name), buf_str(&why));
    } else {
        delivery_unpause(co->delivery, buf_str(&name));
    }
    buf_free(&name);
    buf_free(&why);
}

static void tell_alias(struct coordinator *co, const struct catalogue *c, struct str alias,
                       const struct pause *p)
{
    for (size_t i = 0; co->delivery != NULL && i < c->n_versions; i++)
        if (catalogue_is_live(&c->versions[i]) && str_equal(c->versions[i].index, alias))
            tell_delivery(co, &c->versions[i], p);
}

void coordinator_put_pauses(struct coordinator *co)
{
    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++)
        if (catalogue_is_live(&c->versions[i]))
            tell_delivery(co, &c->versions[i],
                          catalogue_pause(c, PAUSE_INDEX, c->versions[i].index));
    catalogue_unref(c);
}

bool coordinator_is_not_paused(struct coordinator *co, struct str alias, struct str table,
                               struct err *err)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct pause *p = catalogue_pause(c, PAUSE_INDEX, alias);
    struct buf why = {0};

    if (p != NULL)
        pause_append(&why, p);

    const bool ok = p == NULL || refuse(err, 409,
                                        "index %" STR_FMT " is paused (%s); fix: millrace "
                                        "index resume %" STR_FMT,
                                        STR_ARG(alias), why.ptr, STR_ARG(table));

    buf_free(&why);
    catalogue_unref(c);
    return ok;
}

/* ---- what people order ---- */

static void answer(struct buf *json, const char *schema, struct str alias, bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_string(&w, STR("index"), alias);
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

/* A build cannot leave its writes for later. */
static bool is_not_built(const struct catalogue *c, struct str alias, struct str table,
                         struct err *err)
{
    return catalogue_version(c, alias, STR("changing")) == NULL ||
           refuse(err, 409,
                  "index %" STR_FMT " is being built; fix: wait for its build, or millrace "
                  "index reset %" STR_FMT,
                  STR_ARG(alias), STR_ARG(table));
}

static bool exists(const struct catalogue *c, struct str alias, struct str table,
                   struct err *err)
{
    return catalogue_version(c, alias, STR("available")) != NULL ||
           refuse(err, 409,
                  "index %" STR_FMT " has no version to pause; fix: millrace index create "
                  "%" STR_FMT,
                  STR_ARG(alias), STR_ARG(table));
}

/* reason: NULL ends the pause. */
static bool set(struct coordinator *co, struct str table, const struct str *reason,
                bool dry_run, struct buf *json, struct err *err)
{
    if (!coordinator_begin(co, err))
        return false;

    struct definitions *d = coordinator_definitions(co);
    struct catalogue *c = NULL;
    const struct table_definition *t = coordinator_find_table(d, table, err);
    const struct str alias = t == NULL ? STR("") : table_index(t);
    bool ok = t != NULL && coordinator_refresh(co, err);

    if (ok) {
        const struct pause p = {.kind = STR(PAUSE_INDEX),
                                .name = alias,
                                .reason = reason == NULL ? STR("") : *reason,
                                .at_ms = clock_wall_ms()};

        c = coordinator_catalogue(co);
        ok = reason == NULL
                 ? dry_run || pause_end(co->opt.store, p.kind, alias, err)
                 : exists(c, alias, table, err) && is_not_built(c, alias, table, err) &&
                       (dry_run || pause_store(co->opt.store, &p, err));
        FAILPOINT(pause_stored);
        if (ok && !dry_run) {
            tell_alias(co, c, alias, reason == NULL ? NULL : &p);
            coordinator_log_text(co, table_name(t), alias,
                                 reason == NULL ? "resumed" : "paused", p.reason);
            ok = coordinator_refresh(co, err);
        }
    }
    if (ok)
        answer(json, reason == NULL ? "millrace/index-resume/1" : "millrace/index-pause/1",
               alias, dry_run);
    catalogue_unref(c);
    definitions_unref(d);
    lock_release(&co->admin_lock);
    return ok;
}

bool coordinator_index_pause(struct coordinator *co, struct str table, struct str reason,
                             bool dry_run, struct buf *json, struct err *err)
{
    return set(co, table, &reason, dry_run, json, err);
}

bool coordinator_index_resume(struct coordinator *co, struct str table, bool dry_run,
                              struct buf *json, struct err *err)
{
    if (!set(co, table, NULL, dry_run, json, err))
        return false;
    if (!dry_run && co->delivery != NULL)
        delivery_probe(co->delivery);
    return true;
}
