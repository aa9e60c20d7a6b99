#include "config.h"

#include "rebalance/admin/log_list.h"

#include "rebalance/admin/questions.h"
#include "rebalance/state/parts.h"

#include "src/base/mem.h"
#include "src/store/build_log.h"
#include "src/store/store.h"

#include <string.h>

#define LISTED 200

/* Context of the errand that reads the log. */
struct log_read {
    struct store *store;
    struct stored_log_filter filter; /* with one event more than are listed */
    uint64_t id;                     /* not 0: only this event */
    struct stored_log *log;
    size_t n;
    struct stored_build *builds;
    size_t n_builds;
};

static bool read_latest(struct log_read *r, struct arena *a, struct err *err)
{
    return store_load_log(r->store, a, &r->filter, &r->log, &r->n, err) &&
           (r->n == 0 || store_load_builds_of_log(r->store, a, r->log[r->n - 1].id,
                                                  r->log[0].id, &r->builds, &r->n_builds, err));
}

static bool read_one(struct log_read *r, struct arena *a, struct err *err)
{
    bool found;

    if (!store_load_log_entry(r->store, a, r->id, &r->log, &r->n, err))
        return false;
    if (r->n == 0 || r->log[0].version == 0)
        return true;
    r->builds = arena_alloc(a, 1, sizeof(*r->builds));

    const struct version_name v = {r->log[0].index, r->log[0].version};
    const bool ok = store_load_build(r->store, a, &v, r->builds, &found, err);

    r->n_builds = ok && found ? 1 : 0;
    return ok;
}

static bool read_log(struct errand *e, struct err *err)
{
    struct log_read *r = e->ctx;

    return r->id != 0 ? read_one(r, e->arena, err) : read_latest(r, e->arena, err);
}

/* ---- writing ---- */

/* Of one that has not ended, or that an older program ended, its version tells. */
static struct str end_of(const struct catalogue *c, const struct stored_build *b)
{
    const struct stored_version *v = catalogue_number(c, b->version.index, b->version.number);

    if (b->outcome.len > 0)
        return b->outcome;
    if (v == NULL)
        return STR("unknown");
    if (v->finished_ms != 0)
        return STR(BUILD_SUCCEEDED);
    return catalogue_wait(c, v) != NULL ? STR("waiting") : STR("running");
}

static void put_json(struct json_writer *w, struct str key, struct str json)
{
    if (json.len > 0)
        json_put_raw(w, key, json);
    else
        json_put_null(w, key);
}

static void put_build(struct json_writer *w, const struct catalogue *c,
                      const struct stored_build *b, bool whole)
{
    json_write_key(w, STR("build"));
    json_open_object(w);
    json_put_string(w, STR("kind"), b->kind);
    put_json(w, STR("parameters"), b->parameters);
    put_json(w, STR("nodes"), b->nodes);
    json_put_string(w, STR("end"), end_of(c, b));
    json_put_string(w, STR("error"), b->error);
    coordinator_put_time(w, STR("began"), b->begun_ms);
    coordinator_put_time(w, STR("ended"), b->ended_ms);
    if (whole) {
        put_json(w, STR("mappings"), b->mappings);
        put_json(w, STR("settings"), b->settings);
    }
    json_close_object(w);
}

static bool begins_a_build(const struct stored_log *l)
{
    return str_equal(l->event, STR("building")) || str_equal(l->event, STR("rebuilding"));
}

static const struct stored_build *build_of(const struct log_read *r, const struct stored_log *l)
{
    for (size_t i = 0; i < r->n_builds; i++)
        if (r->builds[i].version.number == l->version &&
            str_equal(r->builds[i].version.index, l->index))
            return &r->builds[i];
    return NULL;
}

static void write_event(struct json_writer *w, const struct catalogue *c,
                        const struct log_read *r, const struct stored_log *l)
{
    const struct stored_build *b = r->id != 0 || begins_a_build(l) ? build_of(r, l) : NULL;

    json_open_object(w);
    json_put_u64(w, STR("id"), l->id);
    coordinator_put_time(w, STR("at"), l->at_ms);
    json_put_string(w, STR("table"), l->table);
    json_put_string(w, STR("index"), l->index);
    json_put_u64(w, STR("version"), l->version);
    json_put_string(w, STR("event"), l->event);
    json_put_raw(w, STR("detail"), l->detail);
    if (b != NULL)
        put_build(w, c, b, r->id != 0);
    json_close_object(w);
}

/* 0: it names a table, as no table's name is a number. */
static uint64_t event_number(struct str name)
{
    uint64_t id = 0;

    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9' || id > UINT64_MAX / 100)
            return 0;
        id = id * 10 + (uint64_t)(name.ptr[i] - '0');
    }
    return id;
}

bool coordinator_list_log(struct coordinator *co, const struct catalogue *c,
                          const struct list_order *o, struct json_writer *w, size_t *n,
                          uint64_t *more_after, struct err *err)
{
    const struct str name = o->name;
    const size_t limit = o->limit > 0 ? o->limit : LISTED;
    struct errand *e = errand_new("the store", sizeof(struct log_read));
    struct log_read *r = e->ctx;

    r->store = co->opt.store;
    r->filter = (struct stored_log_filter){arena_copy(e->arena, name), o->before_id, limit + 1};
    r->id = event_number(name);

    const bool ok = coordinator_ask_store(co, e, read_log, err);

    /* The empty log of a table is a valid answer. */
    *n = r->n + (r->id == 0 && (name.len == 0 || memchr(name.ptr, '.', name.len) != NULL));
    if (!ok)
        *n = 0;
    *more_after = ok && r->n > limit ? r->log[limit - 1].id : 0;
    for (size_t i = 0; ok && i < r->n && i < limit; i++)
        write_event(w, c, r, &r->log[i]);
    errand_leave(e);
    return ok;
}
