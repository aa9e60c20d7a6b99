/*
 * Indexes that nothing is written to any more, retired or history: list them, and delete them
 * after index.retire_after unless an alias leads to them.
 */
#include "config.h"

#include "rebalance/version/retired.h"

#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/version_drop.h"

#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/format/json.h"

#include <stdlib.h>

#define LOOK_MS 60000

/* An index that is due but was not deleted. */
struct kept_index {
    char *index;
    char *why;
    struct kept_index *next;
};

struct kept_indexes {
    int64_t look_ms; /* monotonic: when they are looked at next; the aliases thread's */
    struct lock lock;
    struct kept_index *first; /* guarded by lock */
};

/* ---- aliases ---- */

bool coordinator_aliases_of(struct coordinator *co, const struct stored_version *v, bool own,
                            struct buf *names, struct err *err)
{
    struct buf index = {0}, write_alias = {0}, aliases = {0};
    struct json_reader r;
    struct str key;

    coordinator_index_name(&index, v->index, v->number);
    coordinator_write_alias(&write_alias, v->index, v->number);

    bool ok = search_get_aliases(co->opt.search, buf_str(&index), &aliases, err);

    json_reader_init(&r, buf_str(&aliases));
    if (ok && json_enter_object(&r))
        while (json_next_member(&r, &key)) {
            if (json_string_equal(key, buf_str(&write_alias)) ||
                (own && json_string_equal(key, v->index)))
                continue;
            if (names->len > 0)
                buf_append(names, STR(", "));
            json_unescape(names, key);
        }
    if (!ok && err->code == 404) {
        *err = (struct err){0}; /* no such index */
        ok = true;
    }
    buf_free(&index);
    buf_free(&write_alias);
    buf_free(&aliases);
    return ok;
}

/* ---- kept indexes ---- */

static void free_kept(struct kept_index *k)
{
    free(k->index);
    free(k->why);
    free(k);
}

/* Needs the lock, or to be alone. */
static void forget_kept(struct kept_indexes *all)
{
    while (all->first != NULL) {
        struct kept_index *k = all->first;

        all->first = k->next;
        free_kept(k);
    }
}

struct kept_indexes *kept_indexes_new(void)
{
    struct kept_indexes *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_private);
    return all;
}

void kept_indexes_free(struct kept_indexes *all)
{
    if (all == NULL)
        return;
    forget_kept(all);
    lock_fini(&all->lock);
    free(all);
}

static void note_kept(struct kept_indexes *all, struct str index, struct str why)
{
    struct kept_index *k = mem_alloc(1, sizeof(*k));
    struct buf name = {0}, text = {0};

    buf_append(&name, index);
    buf_append(&text, why);
    k->index = name.ptr;
    k->why = text.ptr;
    lock_acquire(&all->lock);
    k->next = all->first;
    all->first = k;
    lock_release(&all->lock);
}

static void append_why_kept(struct kept_indexes *all, struct str index, struct buf *b)
{
    lock_acquire(&all->lock);
    for (const struct kept_index *k = all->first; k != NULL; k = k->next)
        if (str_equal(str_from(k->index), index))
            buf_printf(b, "; %s", k->why);
    lock_release(&all->lock);
}

/* ---- deleting ---- */

static bool is_due(const struct coordinator *co, const struct stored_version *v)
{
    const bool is_left =
        str_equal(v->state, STR("retired")) || str_equal(v->state, STR("history"));

    return is_left && v->retired_ms != 0 &&
           clock_steady_ms() - v->retired_ms >= co->opt.retire_after_ms;
}

/*
 * Whether no alias leads to the index.  Once the engine has failed, it is not asked again; away
 * has the reason.
 */
static bool may_go(struct coordinator *co, const struct stored_version *v, struct err *away)
{
    struct buf index = {0}, names = {0}, why = {0};
    const bool known =
        away->kind == ERR_NONE && coordinator_aliases_of(co, v, false, &names, away);

    coordinator_index_name(&index, v->index, v->number);
    if (!known)
        buf_append(&why, str_from(away->msg));
    else if (names.len > 0)
        buf_printf(&why, "it stays while an alias points to it: %s", names.ptr);
    if (why.len > 0)
        note_kept(co->kept, buf_str(&index), buf_str(&why));

    const bool may = why.len == 0;

    buf_free(&index);
    buf_free(&names);
    buf_free(&why);
    return may;
}

/* A definition may name the index again by now. */
static bool is_still_due(struct coordinator *co, const struct stored_version *v)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_version *now = catalogue_number(c, v->index, v->number);
    const bool is = now != NULL && is_due(co, now);

    catalogue_unref(c);
    return is;
}

static void drop(struct coordinator *co, const struct stored_version *v)
{
    struct err err = {0};

    if (!coordinator_begin(co, &err))
        return;

    const bool is = is_still_due(co, v), ok = is && coordinator_drop_version(co, v, &err);

    lock_release(&co->admin_lock);
    if (!is)
        return;
    if (ok) {
        log_info("index deleted: index.retire_after has passed", KV("index", v->index),
                 KV("version", v->number));
        coordinator_log(co, STR(""), v->index, v->number, "dropped",
                        "index.retire_after has passed");
    } else {
        log_failure(LOG_WARN, &err, "cannot delete an index yet that nothing is written to",
                    KV("index", v->index), KV("version", v->number));
    }
}

void coordinator_drop_retired(struct coordinator *co)
{
    struct err away = {0};
    struct catalogue *c;

    if (co->opt.retire_after_ms == 0 || clock_mono_ms() < co->kept->look_ms)
        return;
    co->kept->look_ms = clock_mono_ms() +
                        (co->opt.retire_after_ms < LOOK_MS ? co->opt.retire_after_ms : LOOK_MS);
    lock_acquire(&co->kept->lock);
    forget_kept(co->kept);
    lock_release(&co->kept->lock);
    c = coordinator_catalogue(co);
    for (size_t i = 0; i < c->n_versions && !stop_is_set(&co->stop); i++)
        if (coordinator_owns(co, c->versions[i].topic) && is_due(co, &c->versions[i]) &&
            may_go(co, &c->versions[i], &away))
            drop(co, &c->versions[i]);
    catalogue_unref(c);
}

/* ---- the list ---- */

static void put_reason(struct coordinator *co, struct json_writer *w, const struct catalogue *c,
                       const struct stored_version *v, struct str index)
{
    const struct stored_wait *wait = catalogue_wait(c, v);
    struct buf reason = {0};

    if (str_equal(v->state, STR("retired"))) {
        buf_append(&reason, STR("no definition names it; Millrace no longer writes to it"));
        append_why_kept(co->kept, index, &reason);
    } else if (str_equal(v->state, STR("history"))) {
        buf_append(&reason, STR("another version has replaced it"));
        if (v->error.len > 0)
            buf_printf(&reason, "; it was not kept: %" STR_FMT, STR_ARG(v->error));
        append_why_kept(co->kept, index, &reason);
    } else if (catalogue_is_kept(v)) {
        buf_append(&reason, STR("millrace index rollback can return to it"));
    } else {
        buf_append(&reason, wait != NULL ? wait->detail : v->error);
    }
    json_put_string(w, STR("reason"), buf_str(&reason));
    buf_free(&reason);
}

static void put_index(struct coordinator *co, struct json_writer *w,
                      const struct definitions *d, const struct catalogue *c,
                      const struct stored_version *v)
{
    const struct table_definition *t = definition_lead_of(d, v->index);
    const bool drops = v->retired_ms != 0 && co->opt.retire_after_ms != 0;
    struct buf index = {0};

    coordinator_index_name(&index, v->index, v->number);
    json_open_object(w);
    json_put_string(w, STR("index"), v->index);
    json_put_u64(w, STR("version"), v->number);
    json_put_string(w, STR("name"), buf_str(&index));
    json_put_string(w, STR("state"), v->state);
    json_put_string(w, STR("table"), t != NULL ? table_name(t) : STR(""));
    coordinator_put_time(w, STR("created"), v->created_ms);
    coordinator_put_time(w, STR("finished"), v->finished_ms);
    coordinator_put_time(w, STR("kept_until"), catalogue_is_kept(v) ? v->kept_until_ms : 0);
    coordinator_put_time(w, STR("retired"), v->retired_ms);
    coordinator_put_time(w, STR("deleted_after"),
                         drops ? v->retired_ms + co->opt.retire_after_ms : 0);
    put_reason(co, w, c, v, buf_str(&index));
    json_close_object(w);
    buf_free(&index);
}

static void put_dropped(struct json_writer *w, const struct version_name *v)
{
    struct buf index = {0};

    coordinator_index_name(&index, v->index, v->number);
    json_open_object(w);
    json_put_string(w, STR("index"), v->index);
    json_put_u64(w, STR("version"), v->number);
    json_put_string(w, STR("name"), buf_str(&index));
    json_put_cstr(w, STR("state"), "dropped");
    json_put_cstr(w, STR("table"), "");
    json_put_null(w, STR("created"));
    json_put_null(w, STR("finished"));
    json_put_null(w, STR("kept_until"));
    json_put_null(w, STR("retired"));
    json_put_null(w, STR("deleted_after"));
    json_put_cstr(w, STR("reason"),
                  "it will be deleted as soon as the search engine allows "
                  "it");
    json_close_object(w);
    buf_free(&index);
}

static bool list_dropped(struct coordinator *co, struct str name, struct json_writer *w,
                         size_t *n, struct err *err)
{
    struct store_copy *stored = store_watch_copy(co->store_watch);

    store_watch_want(co->store_watch);
    if (stored == NULL)
        return err_set(err, ERR_RETRY, "the store has not answered yet; fix: try again");
    for (size_t i = 0; i < stored->n_dropped; i++) {
        if (name.len > 0 && !str_equal(name, stored->dropped[i].index))
            continue;
        (*n)++;
        put_dropped(w, &stored->dropped[i]);
    }
    store_copy_unref(stored);
    return true;
}

bool coordinator_list_indexes(struct coordinator *co, struct str name, struct json_writer *w,
                              size_t *n, struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++) {
        if (name.len > 0 && !str_equal(name, c->versions[i].index))
            continue;
        (*n)++;
        put_index(co, w, d, c, &c->versions[i]);
    }
    catalogue_unref(c);
    definitions_unref(d);
    return list_dropped(co, name, w, n, err);
}
