#include "config.h"

#include "rebalance/version/rollback.h"

#include "rebalance/dead_letter/purged.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/claim.h"
#include "rebalance/version/index.h"
#include "rebalance/version/pause.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/settings.h"
#include "rebalance/version/version_drop.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/store/turn.h"

#include <inttypes.h>
#include <stdlib.h>

#define AGAIN_MS 1000 /* before a return that was cut off is tried again */

static struct version_name name_of(const struct stored_version *v)
{
    return (struct version_name){v->index, v->number};
}

/* ---- the return ---- */

/* What a return is about: the version, the one that searches use, and their table. */
struct returning {
    const struct definitions *d; /* the present ones */
    struct catalogue *c;
    const struct stored_version *to, *from; /* from may be NULL */
    struct str table;
};

static void find_return(struct returning *r, const struct stored_version *to)
{
    const struct table_definition *lead = definition_lead_of(r->d, to->index);

    r->to = to;
    r->from = catalogue_version(r->c, to->index, STR("available"));
    r->table = lead != NULL ? table_name(lead) : to->index;
}

static bool move_alias(struct coordinator *co, const struct stored_version *to, struct err *err)
{
    struct buf index = {0};

    coordinator_index_name(&index, to->index, to->number);

    const bool ok = search_refresh(co->opt.search, buf_str(&index), err) &&
                    search_move_alias(co->opt.search, to->index, buf_str(&index), err);

    buf_free(&index);
    return ok;
}

/* A table's stop may be under the name with which the version was built. */
static bool store_return(struct coordinator *co, const struct returning *r, struct err *err)
{
    const struct table_definition *t;
    struct definitions *then = NULL;
    struct err ignored = {0};
    struct version_return v = {.version = name_of(r->to),
                               .tables = {r->table},
                               .at_ms = clock_steady_ms(),
                               .keep_for_ms = co->opt.keep.for_ms};

    if (r->from != NULL && coordinator_version_definitions(co, r->from, &then, &t, &ignored))
        v.tables[1] = table_name(t);

    const bool ok = store_take_up_return(co->opt.store, &v, err);

    definitions_unref(then);
    return ok;
}

static void tell_return(struct coordinator *co, const struct returning *r) NEEDS(co->admin_lock)
{
    const struct stored_version *both[] = {r->to, r->from};
    struct buf index = {0}, text = {0};

    coordinator_index_name(&index, r->to->index, r->to->number);
    if (r->from != NULL)
        buf_printf(&text, "from version %" PRIu64, r->from->number);
    log_info("searches have returned to an older version", KV("index", r->to->index),
             KV("version", r->to->number));
    coordinator_log(co, r->table, r->to->index, r->to->number, "returned",
                    text.len > 0 ? text.ptr : "");
    coordinator_route_published(co, both, r->from != NULL ? 2 : 1);
    coordinator_forget_other_letters(co, r->to);
    coordinator_settings_due(co);
    engine_watch_count_now(co->engine_watch, buf_str(&index));
    buf_free(&index);
    buf_free(&text);
}

/* The version was stopped on its way: searches stay where they are. */
static bool give_up(struct coordinator *co, const struct returning *r, struct err *err)
    NEEDS(co->admin_lock)
{
    const struct version_name v = name_of(r->to);

    return (r->from == NULL || move_alias(co, r->from, err)) &&
           store_end_kept(co->opt.store, &v, r->to->error, clock_steady_ms(), err) &&
           coordinator_refresh(co, err) &&
           refuse(err, 409,
                  "version %" PRIu64 " of index %" STR_FMT " is not current: %" STR_FMT,
                  v.number, STR_ARG(v.index), STR_ARG(r->to->error));
}

/* Take the ordered return up.  ERR_RETRY: it is still ordered.  Else it is over. */
static bool finish(struct coordinator *co, const struct returning *r, struct err *err)
    NEEDS(co->admin_lock)
{
    const struct version_name v = name_of(r->to);
    struct err ignored = {0};

    if (r->to->error.len > 0)
        return give_up(co, r, err);
    if (!move_alias(co, r->to, err)) {
        if (err->kind == ERR_REJECT && (!store_cancel_return(co->opt.store, &v, &ignored) ||
                                        !coordinator_refresh(co, &ignored)))
            log_failure(LOG_WARN, &ignored, "could not take back the order of a return");
        return false;
    }
    FAILPOINT(alias_returned);
    if (!store_return(co, r, err) || !coordinator_refresh(co, err)) {
        if (err->kind == ERR_STOP) /* stopped just now: the next look gives the alias back */
            err->kind = ERR_RETRY;
        return false;
    }
    FAILPOINT(version_returned);
    tell_return(co, r);
    return true;
}

/* ---- what a person orders ---- */

/* The newest kept version before the one that searches use. */
static const struct stored_version *newest_before(const struct catalogue *c,
                                                  const struct stored_version *from)
{
    const struct stored_version *newest = NULL;

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];

        if (from != NULL && str_equal(v->index, from->index) && v->number < from->number &&
            str_equal(v->state, STR("kept")) && (newest == NULL || v->number > newest->number))
            newest = v;
    }
    return newest;
}

/* Append "; kept are: 3, 2", or how to keep versions. */
static void append_kept(struct buf *b, const struct catalogue *c, struct str alias)
{
    bool any = false;

    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].index, alias) &&
            str_equal(c->versions[i].state, STR("kept"))) {
            buf_printf(b, "%s %" PRIu64, any ? "," : "; current are:", c->versions[i].number);
            any = true;
        }
    if (!any)
        buf_append(b, STR("; none is kept current (index.keep_versions, index create --keep); "
                          "fix: millrace index create builds a new one"));
}

/* Say why the version cannot be returned to by its state. */
static bool refuse_state(const struct catalogue *c, const struct stored_version *v,
                         struct err *err)
{
    struct buf why = {0};

    if (str_equal(v->state, STR("available")))
        buf_append(&why, STR("is the one that searches use"));
    else if (str_equal(v->state, STR("waiting")))
        buf_append(&why, STR("waits to be published; fix: millrace index cutover"));
    else if (str_equal(v->state, STR("changing")))
        buf_append(&why, STR("is being built"));
    else
        buf_append(&why, STR("is not current"));
    if (!catalogue_is_live(v)) {
        buf_printf(&why,
                   v->error.len > 0 ? ": %" STR_FMT : ", nothing is written to it%" STR_FMT,
                   STR_ARG(v->error));
        append_kept(&why, c, v->index);
    }
    refuse(err, 409, "version %" PRIu64 " of index %" STR_FMT " %s", v->number,
           STR_ARG(v->index), why.ptr);
    buf_free(&why);
    return false;
}

static bool refuse_none(const struct catalogue *c, struct str alias, uint64_t number,
                        struct err *err)
{
    struct buf why = {0};

    if (number != 0)
        buf_printf(&why, "index %" STR_FMT " has no version %" PRIu64, STR_ARG(alias), number);
    else
        buf_printf(&why, "no older version of index %" STR_FMT " is current", STR_ARG(alias));
    append_kept(&why, c, alias);
    refuse(err, number != 0 ? 404 : 409, "%s", why.ptr);
    buf_free(&why);
    return false;
}

/* Nothing else is about to move the alias. */
static bool is_free(const struct catalogue *c, struct str alias, struct str table,
                    struct err *err)
{
    const struct stored_version *built = catalogue_version(c, alias, STR("changing")),
                                *back = catalogue_version(c, alias, STR("returning"));

    if (built != NULL)
        return refuse(err, 409,
                      "version %" PRIu64 " of index %" STR_FMT
                      " is being built, and would replace what searches return to; fix: wait "
                      "for it, or millrace index reset %" STR_FMT " first",
                      built->number, STR_ARG(alias), STR_ARG(table));
    return back == NULL ||
           refuse(err, 409,
                  "searches of index %" STR_FMT " are already returning to version %" PRIu64,
                  STR_ARG(alias), back->number);
}

/* A version that lacks changes is not current, though it is kept. */
static bool is_current(struct coordinator *co, const struct stored_version *v, struct err *err)
{
    struct hold hold;
    struct buf index = {0};
    bool ok = true;

    coordinator_index_name(&index, v->index, v->number);
    if (holds_find(co->holds, buf_str(&index), &hold))
        ok = refuse(err, 409,
                    "version %" PRIu64 " of index %" STR_FMT
                    " is not current, because it accepts nothing: %s",
                    v->number, STR_ARG(v->index), hold.is.why.msg);
    else if (coordinator_purged_since(co, buf_str(&index)) != LAG_NONE)
        ok = err_set(err, ERR_RETRY,
                     "version %" PRIu64 " of index %" STR_FMT
                     " is not current yet: rows that changed while it accepted nothing are "
                     "still to be read",
                     v->number, STR_ARG(v->index));
    buf_free(&index);
    return ok;
}

/* Find the version to return to, or refuse. */
static bool choose(struct coordinator *co, struct returning *r, struct str alias,
                   uint64_t number, struct err *err)
{
    const struct stored_version *from = catalogue_version(r->c, alias, STR("available")),
                                *to = number != 0 ? catalogue_number(r->c, alias, number)
                                                  : newest_before(r->c, from);

    if (!is_free(r->c, alias, r->table, err))
        return false;
    if (to == NULL)
        return refuse_none(r->c, alias, number, err);
    if (!str_equal(to->state, STR("kept")))
        return refuse_state(r->c, to, err);
    find_return(r, to);
    return coordinator_is_not_paused(co, alias, r->table, err) && is_current(co, to, err);
}

static bool may_have_alias(struct coordinator *co, struct str alias, struct err *err)
{
    static const struct take nothing = {false, false};
    struct buf name = {0};

    buf_append(&name, alias);

    const bool ok = coordinator_may_publish(co, name.ptr, &nothing, err);

    buf_free(&name);
    return ok;
}

static bool roll_back(struct coordinator *co, const struct returning *r, struct err *err)
    NEEDS(co->admin_lock)
{
    const struct version_name v = name_of(r->to);

    if (!store_order_return(co->opt.store, &v, err) || !coordinator_refresh(co, err))
        return false;
    FAILPOINT(return_ordered);
    return finish(co, r, err) ||
           (err->kind == ERR_RETRY &&
            err_wrap(err, "Millrace goes on with the return to version %" PRIu64, v.number));
}

static void answer(struct buf *json, const struct returning *r, bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/index-rollback/1");
    json_put_string(&w, STR("index"), r->to->index);
    json_put_u64(&w, STR("version"), r->to->number);
    if (r->from != NULL)
        json_put_u64(&w, STR("from"), r->from->number);
    else
        json_put_null(&w, STR("from"));
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

bool coordinator_index_rollback(struct coordinator *co, struct str table, uint64_t number,
                                bool dry_run, struct buf *json, struct err *err)
{
    const struct table_definition *t;
    struct definitions *d;
    struct returning r = {0};

    if (!coordinator_is_daemon(co, "a rollback", err))
        return false;
    if (!coordinator_begin(co, err))
        return false;
    d = coordinator_definitions(co);
    t = coordinator_find_table(d, table, err);

    bool ok = t != NULL && coordinator_refresh(co, err);

    r.d = d;
    r.c = coordinator_catalogue(co);
    if (ok) {
        r.table = table_name(definition_lead(d, t));
        ok = choose(co, &r, table_index(t), number, err) &&
             may_have_alias(co, r.to->index, err) && (dry_run || roll_back(co, &r, err));
    }
    if (ok)
        answer(json, &r, dry_run);
    catalogue_unref(r.c);
    definitions_unref(d);
    lock_release(&co->admin_lock);
    return ok;
}

/* ---- by itself ---- */

static void end_time(struct coordinator *co, const struct stored_version *v)
    NEEDS(co->admin_lock)
{
    const struct version_name name = name_of(v);
    struct err err = {0};

    if (!store_end_kept(co->opt.store, &name, STR("its time was over"), clock_steady_ms(),
                        &err) ||
        !coordinator_refresh(co, &err)) {
        log_failure(LOG_WARN, &err, "could not end the time of a kept version",
                    KV("index", v->index), KV("version", v->number));
        return;
    }
    coordinator_route_published(co, &v, 1);
    coordinator_log_text(co, STR(""), v->index, "history",
                         STR("its time as a kept version was over"));
    log_info("an older version is no longer kept", KV("index", v->index),
             KV("version", v->number));
}

static void go_on(struct coordinator *co, struct returning *r, const struct stored_version *v)
    NEEDS(co->admin_lock)
{
    struct err err = {0};

    find_return(r, v);
    if (!finish(co, r, &err))
        log_failure(LOG_WARN, &err, "searches have not returned to an older version",
                    KV("index", v->index), KV("version", v->number));
}

static bool is_due(const struct stored_version *v)
{
    return str_equal(v->state, STR("returning")) ||
           (str_equal(v->state, STR("kept")) && clock_steady_ms() >= v->kept_until_ms);
}

static bool any_is_due(struct coordinator *co)
{
    struct catalogue *c = coordinator_catalogue(co);
    bool any = false;

    for (size_t i = 0; i < c->n_versions && !any; i++)
        any = is_due(&c->versions[i]);
    catalogue_unref(c);
    return any;
}

void coordinator_look_at_older(struct coordinator *co)
{
    struct err ignored = {0}; /* the next look comes */
    struct definitions *d;
    struct returning r;

    if (!any_is_due(co) || !coordinator_begin(co, &ignored))
        return;
    d = coordinator_definitions(co);
    r = (struct returning){.d = d, .c = coordinator_catalogue(co)};
    for (size_t i = 0; i < r.c->n_versions; i++) {
        const struct stored_version *v = &r.c->versions[i];

        if (!is_due(v) || !coordinator_owns(co, v->topic))
            continue;
        if (str_equal(v->state, STR("kept")))
            end_time(co, v);
        else
            go_on(co, &r, v);
    }
    catalogue_unref(r.c);
    definitions_unref(d);
    lock_release(&co->admin_lock);
}

int64_t coordinator_older_rest_ms(struct coordinator *co, int64_t most_ms)
{
    struct catalogue *c = coordinator_catalogue(co);
    int64_t ms = most_ms;

    for (size_t i = 0; i < c->n_versions; i++)
        if (catalogue_is_kept(&c->versions[i])) {
            const int64_t left_ms = str_equal(c->versions[i].state, STR("returning"))
                                        ? AGAIN_MS
                                        : c->versions[i].kept_until_ms - clock_steady_ms();

            ms = left_ms < ms ? left_ms : ms;
        }
    catalogue_unref(c);
    return ms;
}
